// The conditions under which the accesses of an expression leave their buffers.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "loop/stmt.h"

namespace tulle::passes {

using BufferSizes = std::map<std::string, loop::Expr>;

// Statements that report each load of `expr` that is out of bounds, in the order in which they are
// evaluated. An operand that is only evaluated under a condition is only checked under it.
void check_loads(const loop::Expr& expr, const BufferSizes& sizes, std::vector<loop::Stmt>& checks);

// The same for one access that a statement makes; null predicates are true.
void check_access(const loop::Buffer& buffer, const loop::Expr& index, const loop::Expr& predicate,
                  const BufferSizes& sizes, std::vector<loop::Stmt>& checks);

}  // namespace tulle::passes
