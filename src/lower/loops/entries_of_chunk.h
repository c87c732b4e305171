// A fixed number of entries of an operand, across row boundaries.
#pragma once

#include "lower/loops/loop_kind.h"

namespace tulle::lower {

class EntriesOfChunk : public LoopKind {
 public:
  bool applies(const LoopSite& site) const override;
  void lower(const LoopSite& site, Emitter& out) const override;
};

}  // namespace tulle::lower
