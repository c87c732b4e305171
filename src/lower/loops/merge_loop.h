// Several operands whose stored coordinates are walked over together.
#pragma once

#include "lower/loops/loop_kind.h"

namespace tulle::lower {

class MergeLoop : public LoopKind {
 public:
  bool applies(const LoopSite& site) const override;
  void lower(const LoopSite& site, Emitter& out) const override;
};

}  // namespace tulle::lower
