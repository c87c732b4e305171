// What can be told of statements before any operand is given.
#pragma once

#include "expr/program.h"

namespace tulle::expr {

// UserError, pointing at the place, where an index stands on the left of the statement alone.
void check_left_side(const Statement& statement);

// The same, where a sum is wrong or missing, and where a tensor has different numbers of indices.
void check_notation(const ParsedProgram& program);

}  // namespace tulle::expr
