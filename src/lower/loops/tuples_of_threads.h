// Merges the tuples of warps or threads: each stores its tuple in shared memory, and each merges
// all of them.
#pragma once

#include "lower/loops/loop_kind.h"

namespace tulle::lower {

class TuplesOfThreads : public LoopKind {
 public:
  bool applies(const LoopSite& site) const override;
  void lower(const LoopSite& site, Emitter& out) const override;
};

}  // namespace tulle::lower
