// Programs that compute derivatives of a program: its gradient, and its tangent.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "expr/program.h"
#include "tulle/derivative_tensors.h"

namespace tulle::grad {

// The statements that compute derivatives, and the tensors that they read and compute.
struct DerivativeStatements {
  std::vector<expr::Statement> statements;
  std::vector<DerivativeOperand> operands;
  std::vector<DerivativeResult> results;
};

struct GradientRequest {
  std::vector<std::string> wanted;   // operands
  std::set<std::string> seeds;       // results whose gradients are given; the others are 0
  std::set<std::string> composites;  // composite operands
};

// The gradients of the wanted operands. The gradient of a sparse operand or result has the pattern
// of that tensor, one value for each of its entries. The gradient of a composite operand has the
// pattern of a part, which is an operand of its own.
DerivativeStatements gradient(const expr::ResolvedProgram& program, const GradientRequest& request);

// The tangents of all results for given tangents of `moved` operands. The tangent of a sparse
// tensor has its pattern.
DerivativeStatements tangent(const expr::ResolvedProgram& program,
                             const std::set<std::string>& moved);

}  // namespace tulle::grad
