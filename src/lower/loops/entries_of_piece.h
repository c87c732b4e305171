// The entries of a piece of a row by number, or the entries with one number in all pieces.
#pragma once

#include "lower/loops/loop_kind.h"

namespace tulle::lower {

class EntriesOfPiece : public LoopKind {
 public:
  bool applies(const LoopSite& site) const override;
  void lower(const LoopSite& site, Emitter& out) const override;
};

}  // namespace tulle::lower
