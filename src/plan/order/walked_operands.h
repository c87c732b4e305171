// The operands of a statement as its loops walk over them.
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
  // Whether the access stores the coordinates of the variable rather than counting through them.
  bool walks(const expr::Access& access, const std::string& var) const;
  // Whether the access has to be converted in every order that begins like this, because none of
  // them walks over it as it is stored. It then stores the coordinates of all its variables.
  bool is_converted(const expr::Access& access, const std::vector<std::string>& order) const;

  const OrderProblem& problem;
  std::vector<const expr::Access*> all;
  std::vector<const expr::Access*> sparse;  // equal ones once
  std::set<int> decisive;                   // accesses (by id) without which the statement vanishes
};

}  // namespace tulle::plan
