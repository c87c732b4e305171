// The rows of a chunk of equal work, whose ends may be inside rows.
#pragma once

#include "lower/loops/loop_kind.h"

namespace tulle::lower {

class RowsByWork : public LoopKind {
 public:
  bool applies(const LoopSite& site) const override;
  void lower(const LoopSite& site, Emitter& out) const override;
};

}  // namespace tulle::lower
