// Whatever a loop finds, the result has an entry if the loop runs at all: the entry is noted
// before.
#pragma once

#include "lower/loops/loop_kind.h"

namespace tulle::lower {

class CertainEntries : public LoopKind {
 public:
  bool applies(const LoopSite& site) const override;
  void lower(const LoopSite& site, Emitter& out) const override;
};

}  // namespace tulle::lower
