// Estimates trip counts from extents and numbers of entries.
#include "plan/order/loop_trips.h"

#include <algorithm>
#include <limits>

#include "expr/absence.h"
#include "plan/order/native_order.h"
#include "plan/rewrite/gathering.h"

namespace tulle::plan {

using expr::Access;

namespace {

// The number of values that the innermost full levels hold for each stored coordinate above them,
// counting only unbound variables: the size of a block.
double unbound_block(const OrderProblem& problem, const Access& access,
                     const std::vector<std::string>& bound) {
  const auto& levels = problem.tensors->at(access.tensor).format.levels();
  double block = 1;
  for (auto level = levels.rbegin(); level != levels.rend() && is_full(level->kind); ++level) {
    const std::string var = level_variable(level->expr, access.indices, problem.space);
    if (!var.empty() && position_of(bound, var) < 0) block *= problem.extents.at(var);
  }
  return block;
}

// The number of combinations of the access's bound variables that loops visit. This is the product
// of the extents until a loop walks over stored coordinates. Then the number of entries limits it.
double prefix(const WalkedOperands& operands, const Access& access,
              const std::vector<std::string>& bound) {
  const OrderProblem& problem = operands.problem;
  double product = 1;
  std::set<std::string> seen;
  for (const std::string& index : access.indices) {
    if (!seen.insert(index).second) continue;
    for (const std::string& part : problem.space.parts.at(index)) {
      if (position_of(bound, part) >= 0) product *= problem.extents.at(part);
    }
  }
  const bool is_sparse =
      std::any_of(bound.begin(), bound.end(),
                  [&](const std::string& var) { return operands.walks(access, var); }) ||
      operands.is_converted(access, bound);
  if (!is_sparse) return product;
  const double entries = problem.counts.at(access.tensor) / unbound_block(problem, access, bound);
  return std::min(product, std::max(1.0, entries));
}

bool has_variable(const OrderProblem& problem, const Access& access, const std::string& var) {
  return std::any_of(access.indices.begin(), access.indices.end(), [&](const std::string& index) {
    const auto& parts = problem.space.parts.at(index);
    return std::find(parts.begin(), parts.end(), var) != parts.end();
  });
}

expr::Expr body_over(const expr::Expr& expr, const std::string& index) {
  if (const auto* reduce = expr.as<expr::Reduce>()) {
    const auto& indices = reduce->indices;
    if (std::find(indices.begin(), indices.end(), index) != indices.end()) return reduce->body;
  }
  for (const expr::Expr& child : expr::children(expr)) {
    if (expr::Expr found = body_over(child, index)) return found;
  }
  return {};
}

// The expressions that a loop over the variable inside the others computes: the body of the
// reduction that binds it, or else the terms of all gathered reductions if one of the outer loops
// is reduced, or else the whole value.
std::vector<expr::Expr> parts_of(const OrderProblem& problem,
                                 const std::vector<std::string>& outside, const std::string& var) {
  const std::string& parent = problem.space.variables.at(var).parent;
  const expr::Expr& value = problem.statement->value;
  if (const expr::Expr found = body_over(value, parent.empty() ? var : parent)) return {found};
  const bool gathers = std::any_of(outside.begin(), outside.end(), [&](const std::string& other) {
    return problem.reduced.contains(other);
  });
  if (!gathers) return {value};
  std::vector<expr::Expr> terms;
  for (const expr::Reduce* reduce : topmost_reductions(value)) terms.push_back(reduce->body);
  return terms;
}

bool is_stored(const WalkedOperands& operands, const Access& access,
               const std::vector<std::string>& with) {
  return operands.walks(access, with.back()) ||
         (has_variable(operands.problem, access, with.back()) &&
          operands.is_converted(access, with));
}

// Whether the loop over the last variable steps through the stored coordinates of the access. Other
// coordinates are computed, or found by a search from the start of the access.
bool is_stepped_through(const WalkedOperands& operands, const Access& access,
                        const std::vector<std::string>& with) {
  const OrderProblem& problem = operands.problem;
  if (!is_stored(operands, access, with)) return false;
  const bool is_inside = std::any_of(with.begin(), with.end() - 1, [&](const std::string& var) {
    return has_variable(problem, access, var);
  });
  if (!is_inside && with.size() > 1) return false;
  if (operands.is_converted(access, with)) return true;
  const auto& levels = operands.type_of(access.tensor).format.levels();
  return std::any_of(levels.begin(), levels.end(), [&](const Level& level) {
    return stores_coordinates(level.kind) &&
           level_variable(level.expr, access.indices, problem.space) == with.back();
  });
}

// The number of times that the loop over `var` is entered after these loops, whose innermost body
// runs `visits` times. A sum in a term of a tuple is only inside the loops that its workspace
// depends on.
double visits_around(const WalkedOperands& operands, const std::vector<std::string>& order,
                     const std::string& var, double visits) {
  const OrderProblem& problem = operands.problem;
  const auto used = problem.used.find(var);
  if (used == problem.used.end()) return visits;
  size_t around = 0;
  for (size_t at = 0; at < order.size(); ++at) {
    if (problem.reduced.contains(order[at]) || used->second.contains(order[at])) around = at + 1;
  }
  double product = 1;
  std::vector<std::string> outside;
  for (size_t at = 0; at < order.size(); ++at) {
    if (at < around || at >= problem.outer.size())
      product *= estimate_trips(operands, outside, order[at]);
    outside.push_back(order[at]);
  }
  return product;
}

}  // namespace

double estimate_trips(const WalkedOperands& operands, const std::vector<std::string>& outside,
                      const std::string& var) {
  const OrderProblem& problem = operands.problem;
  std::vector<std::string> with = outside;
  with.push_back(var);
  double least = std::numeric_limits<double>::infinity(), all = 0;
  const std::vector<expr::Expr> parts = parts_of(problem, outside, var);
  const auto vanishes_without = [&](const std::set<int>& ids) {
    return std::all_of(parts.begin(), parts.end(), [&](const expr::Expr& part) {
      return expr::is_zero(
          expr::without(part, [&](const Access& a) { return ids.contains(a.id); }));
    });
  };
  std::set<int> walking;
  for (const Access* access : operands.sparse) {
    if (!is_stored(operands, *access, with)) continue;
    const double here = prefix(operands, *access, with) / prefix(operands, *access, outside);
    if (operands.decisive.contains(access->id) || vanishes_without({access->id}))
      least = std::min(least, here);
    all += here;
    walking.insert(access->id);
  }
  const double extent = problem.extents.at(var);
  if (least < std::numeric_limits<double>::infinity()) return std::min(least, extent);
  if (walking.empty()) return extent;
  return vanishes_without(walking) ? std::min(all, extent) : extent;
}

double estimate_visits(const WalkedOperands& operands, const std::vector<std::string>& outside,
                       const std::string& var, double visits) {
  return visits_around(operands, outside, var, visits) * estimate_trips(operands, outside, var);
}

double estimate_skips(const WalkedOperands& operands, const std::vector<std::string>& outside,
                      const std::string& var, double visits) {
  std::vector<std::string> with = outside;
  with.push_back(var);
  double steps = 0;
  int walked = 0;
  for (const Access* access : operands.sparse) {
    if (!is_stepped_through(operands, *access, with)) continue;
    steps += prefix(operands, *access, with) / prefix(operands, *access, outside);
    ++walked;
  }
  if (walked < 2) return 0;
  return visits_around(operands, outside, var, visits) *
         std::max(0.0, steps - estimate_trips(operands, outside, var));
}

}  // namespace tulle::plan
