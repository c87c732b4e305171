// Programs that compute derivatives of a program: its gradient, and its tangent.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "expr/program.h"

namespace tulle::grad {

// The relation of a derivative's operand to the program that was derived.
enum class Role : uint8_t {
  Operand,   // an operand of that program
  Part,      // a part of a composite operand
  Result,    // the value of one of its results
  Gradient,  // the gradient of a result
  Tangent,   // the tangent of an operand
};

struct DerivativeOperand {
  std::string name;
  Role role = Role::Operand;
  std::string of;  // the operand or result of the derived program
};

struct DerivativeResult {
  std::string name;  // empty if the derivative is 0 everywhere
  std::string of;    // the operand (gradient) or result (tangent) of the derived program
};

struct Derivative {
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
Derivative gradient(const expr::ResolvedProgram& program, const GradientRequest& request);

// The tangents of all results for given tangents of `moved` operands. The tangent of a sparse
// tensor has its pattern.
Derivative tangent(const expr::ResolvedProgram& program, const std::set<std::string>& moved);

}  // namespace tulle::grad
