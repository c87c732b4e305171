// Rows of which a chunk has a part, all parts being of equal work, where entries are listed with
// the rows that they are of.
#pragma once

#include "lower/loops/loop_kind.h"

namespace tulle::lower {

class ListedRowsByWork : public LoopKind {
 public:
  bool applies(const LoopSite& site) const override;
  void lower(const LoopSite& site, Emitter& out) const override;
};

}  // namespace tulle::lower
