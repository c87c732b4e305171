// A loop without iterations, because no operand has an entry.
#pragma once

#include "lower/loops/loop_kind.h"

namespace tulle::lower {

class NoLoop : public LoopKind {
 public:
  bool applies(const LoopSite& site) const override;
  void lower(const LoopSite& site, Emitter& out) const override;
};

}  // namespace tulle::lower
