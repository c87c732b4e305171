// Cuts a loop over stored entries into pieces of equal length.
#pragma once

#include <string>
#include <string_view>

#include "schedule/schedule.h"

namespace tulle::schedule {

// Every loop over `loop`, which walks over the entries that one operand stores in a row, becomes
// one over `outer` with one over `inner` directly in it: entry number outer * length + inner of the
// row, inner < length. Unlike blocks of coordinates these are found without searching. Refused
// where no operand or more than one is walked over, where the operand is not needed for every term,
// and where a sparse result of its own is built.
Result<nest::Nest> split_positions(const nest::Nest& nest, const SplitPositions& step);

// The accesses whose entries the loop walks over, each once.
std::vector<const expr::Access*> walked_accesses(const nest::Nest& nest, const nest::Forall& loop);
// The operand whose entries the loop walks over; refused where none or more than one is, or where
// it does not store them one after the other under each parent.
Result<const expr::Access*> walked_access(const nest::Nest& nest, const nest::Forall& loop);
// Also refused where it does not store where the entries of each parent begin and end.
Result<const expr::Access*> walked_rows(const nest::Nest& nest, const nest::Forall& loop);
// Which level of the access the loop over `var` walks over; -1 if none.
int level_over(const nest::Nest& nest, const expr::Access& access, const std::string& var);
// Refuses if a sparse result of its own is built, for which the step would have to keep loops.
Result<> require_known_structure(const nest::Nest& nest, std::string_view step);
// Refuses if the loop has something to do where the operand has no entry.
Result<> require_needed(const nest::Forall& loop, const expr::Access& access);

// Refuses unless each loop over positions is inside the loop over their row, and no other operand
// is walked along it.
Result<> require_walkable_positions(const nest::Nest& nest);

}  // namespace tulle::schedule
