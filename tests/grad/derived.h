// Compares derived programs with finite differences of the reference evaluator.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "expr/program.h"
#include "expr/reference.h"

namespace tulle::grad {

struct Operand {
  std::string name;
  std::string format;
  std::vector<int64_t> sizes;
};

// A program over operands of type f64. Dense operands hold values in [low, high]; sparse ones store
// about half of their coordinates. `dense` are results that shall be dense.
struct Example {
  std::string program;
  std::vector<Operand> operands;
  double low = -1.5;
  double high = 1.5;
  std::vector<std::string> dense = {};
};

// The largest relative difference between derived gradients (or tangents) and finite differences,
// over all operands and results. Throws what deriving and evaluating throw.
double gradient_error(const Example& example, unsigned seed = 1);
double tangent_error(const Example& example, unsigned seed = 1);

// The error of the gradients of the sum of all gradients, each multiplied by a random tensor.
double second_gradient_error(const Example& example, unsigned seed = 1);

// The statements of the gradients of these operands, one per line.
std::string gradient_text(const Example& example, const std::vector<std::string>& wanted);
std::string tangent_text(const Example& example);

// The gradients of an operand for these operands if the gradients of all results are 1: entries in
// row-major order, absent ones as "_".
std::string gradient_entries(const Example& example, const std::string& wanted,
                             const std::map<std::string, expr::ReferenceTensor>& operands);

}  // namespace tulle::grad
