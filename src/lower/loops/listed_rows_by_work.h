// The rows of a chunk of equal work, for operands that list the row of each entry.
#pragma once

#include "lower/loops/loop_kind.h"

namespace tulle::lower {

class ListedRowsByWork : public LoopKind {
 public:
  bool applies(const LoopSite& site) const override;
  void lower(const LoopSite& site, Emitter& out) const override;
};

}  // namespace tulle::lower
