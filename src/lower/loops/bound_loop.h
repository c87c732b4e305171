// A loop bound to the lanes, warps or threads of a block. Each runs one iteration.
#pragma once

#include <string>

#include "lower/loops/loop_kind.h"

namespace tulle::lower {

class BoundLoop : public LoopKind {
 public:
  bool applies(const LoopSite& site) const override;
  void lower(const LoopSite& site, Emitter& out) const override;
};

}  // namespace tulle::lower
