// Programs over composite operands, rewritten into programs over the parts.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "plan/unique_indices.h"

namespace tulle::plan {

// The parts of a composite operand in their order: together they have every entry once.
struct PartOfOperand {
  std::string name;
  expr::TensorType type;
};
using Composites = std::map<std::string, std::vector<PartOfOperand>>;

// Every composite operand is replaced by its parts.
//
// A statement with a dense result whose value is the sum of what it is for each part alone becomes
// one statement for each part, the further ones adding to the result of the first; so does a sum
// within a larger expression (split_terms). Any other statement reads an intermediate in which the
// parts are put together: the general path. Notes say which was done.
UniqueProgram decompose(const UniqueProgram& program, const Composites& composites);

// Whether the expression is the sum of what it is with one part after the other in place of that
// access, all others being absent.
bool is_additive(const expr::Expr& expr, const expr::Access& in);

}  // namespace tulle::plan
