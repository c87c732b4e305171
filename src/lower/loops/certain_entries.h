// If a loop has an iteration, the result has an entry, so the entry is recorded before the loop.
#pragma once

#include "lower/loops/loop_kind.h"

namespace tulle::lower {

class CertainEntries : public LoopKind {
 public:
  bool applies(const LoopSite& site) const override;
  void lower(const LoopSite& site, Emitter& out) const override;
};

}  // namespace tulle::lower
