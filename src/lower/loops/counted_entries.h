// While counting: entries of an operand that become entries of the result one by one are
// subtracted, not visited.
#pragma once

#include "lower/loops/loop_kind.h"

namespace tulle::lower {

class CountedEntries : public LoopKind {
 public:
  bool applies(const LoopSite& site) const override;
  void lower(const LoopSite& site, Emitter& out) const override;
};

}  // namespace tulle::lower
