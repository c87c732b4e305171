// Generates bounds checks for the accesses of an expression.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "loop/stmt.h"

namespace tulle::passes {

using BufferSizes = std::map<std::string, loop::Expr>;

// Appends statements that report each out-of-bounds load of `expr`, in evaluation order. The checks
// of an operand that is evaluated conditionally run under the same condition.
void check_loads(const loop::Expr& expr, const BufferSizes& sizes, std::vector<loop::Stmt>& checks);

// The same for one access of a statement. A null predicate means true.
void check_access(const loop::Buffer& buffer, const loop::Expr& index, const loop::Expr& predicate,
                  const BufferSizes& sizes, std::vector<loop::Stmt>& checks);

}  // namespace tulle::passes
