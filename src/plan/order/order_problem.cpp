// Collects the variables and constraints of a statement.
#include "plan/order/order_problem.h"

#include <algorithm>
#include <functional>
#include <memory>

#include "plan/rewrite/gathering.h"

namespace tulle::plan {

namespace {

// Whether the constraints so far put the loop over `var` inside the loop over `other`.
bool comes_after(const std::string& var, const std::string& other, const OrderProblem& problem) {
  const auto before = problem.before.find(var);
  return before != problem.before.end() &&
         std::any_of(before->second.begin(), before->second.end(), [&](const std::string& one) {
           return one == other || comes_after(one, other, problem);
         });
}

// Records the loops that the nest puts around each sum's loops.
void nested_sums(const expr::Expr& expr, std::set<std::string> around, OrderProblem& problem) {
  if (const auto* sum = expr.as<expr::Reduce>()) {
    std::set<std::string> own;
    for (const std::string& index : sum->indices) {
      for (const std::string& part : problem.space.parts.at(index)) {
        for (const std::string& outer : around) {
          // Another sum over the same names may be nested the other way round.
          if (outer != part && !comes_after(outer, part, problem))
            problem.before[part].insert(outer);
        }
        own.insert(part);
      }
    }
    around.insert(own.begin(), own.end());
  }
  for (const expr::Expr& child : expr::children(expr)) nested_sums(child, around, problem);
}

// Records the loops that the workspaces of a tuple depend on, and the sums in their terms.
void tuple_variables(const expr::Statement& statement, OrderProblem& problem) {
  if (gathering_of(statement, *problem.tensors) != Gathering::Tuple) return;
  const auto parts_of = [&](const std::vector<std::string>& indices) {
    std::set<std::string> found;
    for (const std::string& index : indices) {
      const auto& parts = problem.space.parts.at(index);
      found.insert(parts.begin(), parts.end());
    }
    return found;
  };
  const auto outside_of = [&](const expr::Reduce& reduce) {
    return parts_of(expr::free_indices(expr::Expr(std::make_shared<const expr::Reduce>(reduce))));
  };
  const std::function<void(const expr::Expr&, const std::set<std::string>&)> note =
      [&](const expr::Expr& term, const std::set<std::string>& used) {
        if (const auto* inner = term.as<expr::Reduce>()) {
          for (const std::string& var : parts_of(inner->indices))
            problem.used[var].insert(used.begin(), used.end());
        }
        for (const expr::Expr& child : expr::children(term)) note(child, used);
      };
  for (const expr::Reduce* reduce : topmost_reductions(statement.value)) {
    note(term_of(*reduce), outside_of(*reduce));
    const expr::Expr lead = lead_of(*reduce);
    if (!lead) continue;
    const std::set<std::string> used = outside_of(*lead.as<expr::Reduce>());
    problem.leading.insert(used.begin(), used.end());
    note(lead.as<expr::Reduce>()->body, used);
  }
}

}  // namespace

OrderProblem make_order_problem(const expr::Statement& statement,
                                const std::map<std::string, expr::TensorType>& tensors,
                                Estimates& estimates, Division division) {
  OrderProblem problem;
  problem.statement = &statement;
  problem.tensors = &tensors;
  problem.space = make_loop_space(statement, tensors, division);
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
    // A loop over the difference visits each coordinate of the second index several times.
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
  }
  nested_sums(statement.value, {}, problem);
  tuple_variables(statement, problem);
  estimate_sizes(problem, estimates);
  return problem;
}

void estimate_sizes(OrderProblem& problem, Estimates& estimates) {
  for (const auto& [index, names] : problem.space.parts) {
    problem.extents[index] = estimates.extent(index);
    if (names.size() == 2) {
      const auto divisor = static_cast<double>(problem.space.variables.at(names[0]).factor);
      problem.extents[names[0]] = std::max(1.0, estimates.extent(index) / divisor);
      problem.extents[names[1]] = divisor;
    } else if (const std::string other = problem.space.subtracted(index); !other.empty()) {
      problem.extents[names[0]] = estimates.extent(index) + estimates.extent(other) - 1;
    }
  }
  count_operands(problem, estimates);
}

void count_operands(OrderProblem& problem, Estimates& estimates) {
  for (const expr::Access* access : expr::accesses(problem.statement->value)) {
    problem.counts[access->tensor] = estimates.count(access->tensor, access->indices);
  }
}

}  // namespace tulle::plan
