// The rows of a chunk, which shares long rows with other chunks.
#pragma once

#include "lower/loops/loop_kind.h"

namespace tulle::lower {

class RowsOfChunk : public LoopKind {
 public:
  bool applies(const LoopSite& site) const override;
  void lower(const LoopSite& site, Emitter& out) const override;
};

}  // namespace tulle::lower
