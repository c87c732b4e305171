// The reference evaluator: evaluates programs by brute force over all coordinates.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "expr/program.h"

namespace tulle::expr {

// A dense copy of a tensor: every coordinate in row-major order. Floating-point values are doubles,
// integers and bools are int64.
struct ReferenceTensor {
  DType type = DType::Float32;
  std::vector<int64_t> sizes;
  std::vector<double> floats;     // for floating-point types
  std::vector<int64_t> integers;  // for all other types
  std::vector<bool> stored;       // whether each coordinate has an entry

  int64_t count() const;
};

// Computes the values and the pattern of each result as the language defines them. Floating-point
// types are computed in double; results of half types are rounded.
std::map<std::string, ReferenceTensor> evaluate(
    const ResolvedProgram& program, const std::map<std::string, ReferenceTensor>& operands);

}  // namespace tulle::expr
