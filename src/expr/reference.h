// The reference evaluator: the language read directly, by brute force over all coordinates.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "expr/program.h"

namespace tulle::expr {

// A tensor spelled out: every coordinate in row-major order. Floating-point values in doubles,
// integers and bools in int64.
struct ReferenceTensor {
  DType type = DType::Float32;
  std::vector<int64_t> sizes;
  std::vector<double> floats;     // of floating-point types
  std::vector<int64_t> integers;  // of the others
  std::vector<bool> stored;       // which coordinates have an entry

  int64_t count() const;
};

// The values and the pattern that the language gives each result of the program. Float types are
// computed in double; results of half types are rounded.
std::map<std::string, ReferenceTensor> evaluate(
    const ResolvedProgram& program, const std::map<std::string, ReferenceTensor>& operands);

}  // namespace tulle::expr
