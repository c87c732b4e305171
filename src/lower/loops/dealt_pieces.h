// The pieces of rows dealt to a chunk (programs/derived.h).
#pragma once

#include "lower/loops/loop_kind.h"

namespace tulle::lower {

class DealtPiecesLoop : public LoopKind {
 public:
  bool applies(const LoopSite& site) const override;
  void lower(const LoopSite& site, Emitter& out) const override;
};

}  // namespace tulle::lower
