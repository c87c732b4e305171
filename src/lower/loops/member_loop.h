// A loop whose coordinates the members of a chunk share. Each member has one.
#pragma once

#include "lower/loops/loop_kind.h"

namespace tulle::lower {

class MemberLoop : public LoopKind {
 public:
  bool applies(const LoopSite& site) const override;
  void lower(const LoopSite& site, Emitter& out) const override;
};

}  // namespace tulle::lower
