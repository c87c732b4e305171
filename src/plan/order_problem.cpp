// From a statement to its variables.
#include "plan/order_problem.h"

#include <algorithm>

#include "plan/gathering.h"

namespace tulle::plan {

namespace {

// Notes which loops the nest puts around those of each sum.
void nested_sums(const expr::Expr& expr, std::set<std::string> around, OrderProblem& problem) {
  if (const auto* sum = expr.as<expr::Reduce>()) {
    std::set<std::string> own;
    for (const std::string& index : sum->indices) {
      for (const std::string& part : problem.space.parts.at(index)) {
        for (const std::string& outer : around) {
          // Under the same names another sum may stand the other way round.
          if (!problem.before[outer].contains(part)) problem.before[part].insert(outer);
        }
        own.insert(part);
      }
    }
    around.insert(own.begin(), own.end());
  }
  for (const expr::Expr& child : expr::children(expr)) nested_sums(child, around, problem);
}

}  // namespace

OrderProblem make_order_problem(const expr::Statement& statement,
                                const std::map<std::string, expr::TensorType>& tensors,
                                Estimates& estimates) {
  OrderProblem problem;
  problem.statement = &statement;
  problem.tensors = &tensors;
  problem.space = make_loop_space(statement, tensors);
  const std::vector<std::string> summed = gathered_indices(statement, tensors);
  auto parts = [&](const std::string& index) -> const std::vector<std::string>& {
    return problem.space.parts.at(index);
  };
  for (const std::string& index : statement.indices) {
    problem.outer.insert(problem.outer.end(), parts(index).begin(), parts(index).end());
  }
  for (const std::string& index : summed) {
    problem.outer.insert(problem.outer.end(), parts(index).begin(), parts(index).end());
    problem.reduced.insert(parts(index).begin(), parts(index).end());
    // A difference to it comes to each coordinate of the other index several times.
    for (const auto& [name, variable] : problem.space.variables) {
      if (variable.origin == nest::Variable::Origin::Difference && variable.second == index)
        problem.reduced.insert(name);
    }
  }
  for (const auto& [index, names] : problem.space.parts) {
    for (const std::string& part : names) {
      const bool is_outer =
          std::find(problem.outer.begin(), problem.outer.end(), part) != problem.outer.end();
      if (!is_outer) problem.inner.push_back(part);
    }
    problem.extents[index] = estimates.extent(index);
    if (names.size() == 2) {
      const auto divisor = static_cast<double>(problem.space.variables.at(names[0]).factor);
      problem.extents[names[0]] = std::max(1.0, estimates.extent(index) / divisor);
      problem.extents[names[1]] = divisor;
    } else if (const std::string other = problem.space.subtracted(index); !other.empty()) {
      problem.extents[names[0]] = estimates.extent(index) + estimates.extent(other) - 1;
    }
  }
  nested_sums(statement.value, {}, problem);
  count_operands(problem, estimates);
  return problem;
}

void count_operands(OrderProblem& problem, Estimates& estimates) {
  for (const expr::Access* access : expr::accesses(problem.statement->value)) {
    problem.counts[access->tensor] = estimates.count(access->tensor, access->indices);
  }
}

}  // namespace tulle::plan
