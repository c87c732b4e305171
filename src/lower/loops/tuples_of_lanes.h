// Merges the tuples of the lanes of a warp: in every step a lane merges the tuple of another lane
// into its own, by shuffles.
#pragma once

#include "lower/loops/loop_kind.h"

namespace tulle::lower {

class TuplesOfLanes : public LoopKind {
 public:
  bool applies(const LoopSite& site) const override;
  void lower(const LoopSite& site, Emitter& out) const override;
};

}  // namespace tulle::lower
