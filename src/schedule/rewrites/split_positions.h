// Cuts a loop over stored entries into pieces of equal length.
#pragma once

#include <string>
#include <string_view>

#include "schedule/schedule.h"

namespace tulle::schedule {

// Replaces every loop over `loop`, which walks over the entries that one operand stores in a row,
// by a loop over `outer` and a loop over `inner` directly inside it. They visit entry number outer
// * length + inner of the row, inner < length. Unlike blocks of coordinates, these need no search.
// Refuses if the loop walks over no operand or over several, if some term does not need the
// operand, and if the nest builds a sparse result with its own pattern.
Result<nest::Nest> split_positions(const nest::Nest& nest, const SplitPositions& step);

// The distinct accesses whose entries the loop walks over.
std::vector<const expr::Access*> walked_accesses(const nest::Nest& nest, const nest::Forall& loop);
// The operand whose entries the loop walks over. Refuses if there is none or more than one, or if
// the operand does not store the entries of each parent consecutively.
Result<const expr::Access*> walked_access(const nest::Nest& nest, const nest::Forall& loop);
// Also refuses if the operand does not store where the entries of each parent begin and end.
Result<const expr::Access*> walked_rows(const nest::Nest& nest, const nest::Forall& loop);
// The level of the access that the loop over `var` walks over. -1 if there is none.
int level_over(const nest::Nest& nest, const expr::Access& access, const std::string& var);
// Refuses if the nest builds a sparse result with its own pattern, because assembly needs the
// original loops.
Result<> require_known_structure(const nest::Nest& nest, std::string_view step);
// Refuses if the loop computes something for coordinates without an entry of the operand.
Result<> require_needed(const nest::Forall& loop, const expr::Access& access);

// Refuses unless each loop over positions is inside the loop over their row and walks over no other
// operand.
Result<> require_walkable_positions(const nest::Nest& nest);

}  // namespace tulle::schedule
