// For the counting phase: if each entry of an operand becomes an entry of the result, the count is
// a difference of positions without a loop.
#pragma once

#include "lower/loops/loop_kind.h"

namespace tulle::lower {

class CountedEntries : public LoopKind {
 public:
  bool applies(const LoopSite& site) const override;
  void lower(const LoopSite& site, Emitter& out) const override;
};

}  // namespace tulle::lower
