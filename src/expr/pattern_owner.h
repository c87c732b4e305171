// Finds the operand whose entries are the entries of a result.
#pragma once

#include <string>

#include "expr/presence.h"
#include "expr/program.h"

namespace tulle::expr {

// Whether a value is present exactly where this access to a sparse tensor has an entry.
bool is_present_like(const Expr& value, const Access& access, const IsSparse& is_sparse);

// The operand that has an entry at exactly the coordinates of the entries of a result, and the same
// format and index type, so that the values of both have the same order. Empty if the rules of the
// language do not imply one. Operands that are `like` another one count as it.
std::string pattern_owner(const ResolvedProgram& program, const std::string& result);

}  // namespace tulle::expr
