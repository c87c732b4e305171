// A loop that walks over the stored coordinates of several operands together.
#pragma once

#include "lower/loops/loop_kind.h"

namespace tulle::lower {

class MergeLoop : public LoopKind {
 public:
  bool applies(const LoopSite& site) const override;
  void lower(const LoopSite& site, Emitter& out) const override;
};

}  // namespace tulle::lower
