// The entry that a loop around visits.
#pragma once

#include "lower/loops/loop_kind.h"

namespace tulle::lower {

class EntryAtHand : public LoopKind {
 public:
  bool applies(const LoopSite& site) const override;
  void lower(const LoopSite& site, Emitter& out) const override;
};

}  // namespace tulle::lower
