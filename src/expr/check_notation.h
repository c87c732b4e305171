// Checks of statements that need no operands.
#pragma once

#include "expr/program.h"

namespace tulle::expr {

// Throws UserError, with a caret, if an index is only on the left of the statement.
void check_left_side(const Statement& statement);

// The same, also if a sum is wrong or missing, or if a tensor is used with different numbers of
// indices.
void check_notation(const ParsedProgram& program);

}  // namespace tulle::expr
