// Adds up the partial sums of the threads in a block: lanes by shuffles, warps and threads through
// shared memory. Every thread gets the sum.
#pragma once

#include "lower/loops/loop_kind.h"

namespace tulle::lower {

class PartialSums : public LoopKind {
 public:
  bool applies(const LoopSite& site) const override;
  void lower(const LoopSite& site, Emitter& out) const override;
};

}  // namespace tulle::lower
