// The long row that begins in a chunk of rows, for the kernel that merges such rows.
#pragma once

#include "lower/loops/loop_kind.h"

namespace tulle::lower {

class SharedRowOfChunk : public LoopKind {
 public:
  bool applies(const LoopSite& site) const override;
  void lower(const LoopSite& site, Emitter& out) const override;
};

}  // namespace tulle::lower
