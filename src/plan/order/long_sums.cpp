// Compares the iterations of the loops with the sizes of the result and the operands.
#include "plan/order/long_sums.h"

#include <algorithm>

#include "plan/order/loop_trips.h"
#include "plan/rewrite/gathering.h"

namespace tulle::plan {

namespace {

constexpr double kManyTerms = 512;  // of an average element
constexpr double kFewReads = 4;     // of an average element of an operand

bool is_sum(const expr::Statement& statement) {
  const auto* reduce = statement.value.as<expr::Reduce>();
  return reduce && reduce->op == expr::Reduction::Sum;
}

// Whether a loop over terms is outside a loop over elements of the result.
bool adds_to_many(const OrderProblem& problem, const std::vector<std::string>& order) {
  const auto is_summed = [&](const std::string& var) { return problem.reduced.contains(var); };
  const auto first = std::find_if(order.begin(), order.end(), is_summed);
  return !std::all_of(first, order.end(), is_summed);
}

double product_of_extents(const OrderProblem& problem, const std::vector<std::string>& indices) {
  double product = 1;
  for (const std::string& index : indices) {
    for (const std::string& part : problem.space.parts.at(index))
      product *= problem.extents.at(part);
  }
  return product;
}

// The number of elements that the operands store.
double stored_elements(const WalkedOperands& operands) {
  double elements = 0;
  for (const expr::Access* access : operands.all) {
    const bool is_dense = operands.type_of(access->tensor).format.is_dense();
    elements += is_dense ? product_of_extents(operands.problem, access->indices)
                         : operands.problem.counts.at(access->tensor);
  }
  return elements;
}

// Whether the loops add up many terms for each element of a dense array with the result's indices.
bool adds_many_terms(const OrderProblem& problem, const OrderChoice& choice) {
  if (choice.route != Route::Dense || problem.is_part) return false;
  if (!adds_to_many(problem, choice.order)) return false;
  const WalkedOperands operands(problem);
  double visits = 1;
  std::vector<std::string> outside;
  for (const std::string& var : choice.order) {
    visits = estimate_visits(operands, outside, var, visits);
    outside.push_back(var);
  }
  return visits > kManyTerms * product_of_extents(problem, problem.statement->indices) &&
         visits < kFewReads * stored_elements(operands);
}

}  // namespace

bool has_long_sums(const OrderProblem& problem, const OrderChoice& choice) {
  return is_sum(*problem.statement) && adds_many_terms(problem, choice);
}

bool has_long_workspaces(const OrderProblem& problem, const OrderChoice& choice) {
  return !is_gpu(problem.backend) &&
         gathering_of(*problem.statement, *problem.tensors) == Gathering::Tuple &&
         adds_many_terms(problem, choice);
}

}  // namespace tulle::plan
