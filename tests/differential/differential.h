// One program on random data, three ways: compiled, interpreted and by the reference evaluator.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "expr/storage.h"

namespace tulle::differential {

struct Operand {
  std::string name;
  std::string format = "dense";
  std::vector<int64_t> sizes;
  double density = 0.3;
  DType type = DType::Float32;
  DType index_type = DType::Int32;
  bool explicit_zeros = false;  // some stored entries are 0
};

struct Case {
  std::string text;  // index notation
  std::vector<Operand> operands;
  std::map<std::string, std::string> out_formats;
  std::string schedule;
  std::string features;
  unsigned seed = 0;
  int threads = 2;
};

// Text that says everything needed to run the case again.
std::string to_string(const Case& test);

enum Engines : int { kCompiled = 1, kInterpreted = 2, kBoth = 3 };

// Empty if all agree, else what differs where; errors of the compiler are reported as differences, but for a UserError or
// Unsupported, which `refused` gets (if not null) and which then is no difference.
std::string run_case(const Case& test, int engines = kBoth, std::string* refused = nullptr);

// The operand's data, drawn from the seed.
expr::ReferenceTensor draw(const Operand& operand, unsigned seed);

}  // namespace tulle::differential
