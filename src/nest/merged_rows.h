// Rows that chunks of equal work are cut out of, wherever in a row that is.
#pragma once

#include "nest/nest.h"

namespace tulle::nest {

// The outermost loop, if it is cut by LoopTag::Balance::Merge; else null.
const Forall* loop_over_merged_rows(const Nest& nest);

// The operand whose rows the loop goes through: stored one after the other, with the coordinates of
// their entries, along a loop inside. Null where there is none.
const expr::Access* merged_operand(const Nest& nest, const Forall& rows);
// The index along which it stores these.
const std::string& entries_index(const Nest& nest, const expr::Access& operand);

}  // namespace tulle::nest
