// Programs over batches of operands.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "expr/program.h"

namespace tulle::grad {

// The statements of the program for operands of which those in `wide` have a further dimension, the
// last one: the batch. Tensors that depend on one of them get that dimension, too.
std::vector<expr::Statement> batched(const expr::ResolvedProgram& program,
                                     const std::set<std::string>& wide);

}  // namespace tulle::grad
