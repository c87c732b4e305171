// The operands of a statement and how its loops walk over them.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "plan/order/order_problem.h"

namespace tulle::plan {

// Points to the problem and its statement.
struct WalkedOperands {
  explicit WalkedOperands(const OrderProblem& of);

  const expr::TensorType& type_of(const std::string& tensor) const {
    return problem.tensors->at(tensor);
  }
  // Whether the access stores the coordinates of the variable.
  bool walks(const expr::Access& access, const std::string& var) const;
  // Whether every order with this beginning requires a conversion of the access, because it cannot
  // be walked over as stored. A converted access stores the coordinates of all its variables.
  bool is_converted(const expr::Access& access, const std::vector<std::string>& order) const;

  const OrderProblem& problem;
  std::vector<const expr::Access*> all;
  std::vector<const expr::Access*> sparse;  // without duplicates
  std::set<int> decisive;                   // ids of accesses without which the statement is 0
};

}  // namespace tulle::plan
