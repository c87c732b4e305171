// A loop bound to lanes, warps or threads of a block, each of which has one coordinate.
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
