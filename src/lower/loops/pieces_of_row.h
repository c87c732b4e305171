// Pieces with equal numbers of entries of a row.
#pragma once

#include "lower/loops/loop_kind.h"

namespace tulle::lower {

// Whether the loop visits entries of an operand by number, in pieces of a row. Other loops over
// such numbers are dense.
bool numbers_entries(const LoopSite& site);
// The loop over the coordinates of these entries, and the one access that it walks over.
nest::Stmt entries_walk(const LoopSite& site);
int numbered_access(const LoopSite& site);

// The pieces of a row if the operand has no entry here.
class NoPieces : public LoopKind {
 public:
  bool applies(const LoopSite& site) const override;
  void lower(const LoopSite& site, Emitter& out) const override;
};

class PiecesOfRow : public LoopKind {
 public:
  bool applies(const LoopSite& site) const override;
  void lower(const LoopSite& site, Emitter& out) const override;
};

}  // namespace tulle::lower
