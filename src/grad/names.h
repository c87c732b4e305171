// Names for tensors and indices that derivatives add.
#pragma once

#include <set>
#include <string>

#include "expr/program.h"

namespace tulle::grad {

class Names {
 public:
  explicit Names(const expr::ResolvedProgram& program);

  // A name that nothing else has: the wish itself, or the wish with a number.
  std::string fresh(const std::string& wish);

 private:
  std::set<std::string> taken_;
};

}  // namespace tulle::grad
