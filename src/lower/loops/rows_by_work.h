// Rows of which a chunk has a part, all parts being of equal work, wherever in a row that is.
#pragma once

#include "lower/loops/loop_kind.h"

namespace tulle::lower {

class RowsByWork : public LoopKind {
 public:
  bool applies(const LoopSite& site) const override;
  void lower(const LoopSite& site, Emitter& out) const override;
};

}  // namespace tulle::lower
