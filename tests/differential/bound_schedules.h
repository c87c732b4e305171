// Programs with schedules that bind loops to a GPU.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "differential/differential.h"

namespace tulle::differential {

struct Bound {
  std::string name;
  std::string text;
  std::vector<Operand> operands;
  std::string schedule;
};
inline void PrintTo(const Bound& bound, std::ostream* out) { *out << bound.name; }

// The sparse matrix A in a format, and a dense tensor.
Operand sparse(const char* format, std::vector<int64_t> sizes);
Operand dense(const char* name, std::vector<int64_t> sizes);

const std::vector<Bound>& bound_schedules();
// The schedules among them that cut rows or entries into chunks or combine by atomics.
std::vector<Bound> schedules_of_chunks();
// One of these programs as a case. The seed determines its data.
Case bound_case(const Bound& bound, unsigned seed);

}  // namespace tulle::differential
