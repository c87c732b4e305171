// The composite operands of a program.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "expr/program.h"

namespace tulle::plan {

// The parts of a composite operand in order; each entry is in exactly one of them.
struct PartOfOperand {
  std::string name;
  expr::TensorType type;
};
using Composites = std::map<std::string, std::vector<PartOfOperand>>;

}  // namespace tulle::plan
