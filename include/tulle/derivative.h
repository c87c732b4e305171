// Derivatives of programs, as programs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tulle/derivative_tensors.h"
#include "tulle/export.h"
#include "tulle/program.h"
#include "tulle/tensor.h"

namespace tulle {

// A program as Program::from_notation and Program::from_einsum take it.
struct ProgramSource {
  std::string_view text;
  bool is_einsum = false;
  std::vector<TensorSpec> operands;
  ProgramOptions options = {};
};

TULLE_API std::string_view name_of(DerivativeRole role);

// A program of index notation that computes derivatives. The gradient and the tangent of a sparse
// tensor have its pattern; the value of a result has its format.
struct Derivative {
  std::string text;
  std::vector<DerivativeOperand> operands;
  std::vector<DerivativeResult> results;
};

// The gradients of the operands `wanted`, given gradients of the results `seeds`. The gradients of
// other results are 0. For composite operands, `Part` operands give the part whose gradient is
// wanted.
TULLE_API Derivative gradient(const ProgramSource& source, const std::vector<std::string>& wanted,
                              const std::vector<std::string>& seeds);

// The tangents of all results, given tangents of the operands `moved`. The tangents of other
// operands are 0.
TULLE_API Derivative tangent(const ProgramSource& source, const std::vector<std::string>& moved);

// The index notation of the program for operands of which those in `wide` have a further dimension,
// the last one. Results that depend on one of them get that dimension, too.
TULLE_API std::string batched(const ProgramSource& source, const std::vector<std::string>& wide);

}  // namespace tulle
