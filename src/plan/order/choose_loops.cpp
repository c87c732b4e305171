// Compares ways to divide indices into loops: as one operand does, or not at all.
#include "plan/order/choose_loops.h"

#include <algorithm>

#include "plan/rewrite/gathering.h"
#include "support/check.h"

namespace tulle::plan {

namespace {

// The extra cost of kernels that walk over blocks, with entries sorted into blocks: they are large
// and compile milliseconds longer. In loop steps.
constexpr double kMoreToCompile = 5e6;

OrderChoice decided_order(const OrderProblem& problem, const Decision& decision) {
  const std::string reason = why_not(problem, decision.order);
  if (reason.empty()) return evaluate_order(problem, decision.order);
  fail_at(decision.place, concat("the loops of '", problem.statement->tensor, "' ", reason));
}

// The best loop order for operands of medium size.
std::vector<std::string> order_by_formats(OrderProblem problem) {
  Estimates guesses;
  problem.distinct_shares.clear();
  problem.threads = 1;
  estimate_sizes(problem, guesses);
  return choose_order(problem).order;
}

}  // namespace

ChosenLoops LoopChooser::choose(const expr::Statement& statement, const Freedom& freedom,
                                const std::optional<Decision>& decision) const {
  const auto choose = [&](OrderProblem problem) {
    OrderChoice choice = decision               ? decided_order(problem, *decision)
                         : freedom.is_scheduled ? evaluate_order(problem, order_by_formats(problem))
                                                : choose_order(problem);
    const int tried = choice.tried;
    return ChosenLoops{std::move(problem), std::move(choice), tried};
  };
  OrderProblem stored = make_problem(statement, freedom, Division::AsStored);
  stored.keeps_storage = freedom.is_scheduled;
  if (!freedom.may_convert || freedom.is_scheduled || !has_divided_operands(statement))
    return choose(std::move(stored));
  if (decision && why_not(stored, decision->order).empty()) return choose(std::move(stored));
  std::optional<ChosenLoops> cheapest;
  if (!decision) cheapest = choose(stored);
  int tried = cheapest ? cheapest->tried : 0;
  for (const Division division : {Division::None, Division::ByBlocks}) {
    const double price = division == Division::ByBlocks ? kMoreToCompile : 0;
    if (cheapest && cheapest->choice.cost <= price) continue;
    OrderProblem other = make_problem(statement, freedom, division);
    if (other.space.parts == stored.space.parts) continue;
    if (decision) {
      if (why_not(other, decision->order).empty()) return choose(std::move(other));
      continue;
    }
    ChosenLoops chosen = choose(std::move(other));
    tried += chosen.tried;
    if (chosen.choice.cost + price < cheapest->choice.cost) cheapest = std::move(chosen);
  }
  if (!cheapest) return choose(std::move(stored));  // throws the error about the decision
  cheapest->tried = tried;
  return std::move(*cheapest);
}

OrderProblem LoopChooser::make_problem(const expr::Statement& statement, const Freedom& freedom,
                                       Division division) const {
  OrderProblem problem = make_order_problem(statement, tensors_, estimates_, division);
  problem.may_convert = freedom.may_convert;
  problem.threads = request_.machine.threads;
  problem.backend = request_.machine.backend;
  problem.may_scatter = may_scatter(statement);
  for (const auto& [operand, statistics] : request_.statistics) {
    problem.distinct_shares[operand] = statistics.distinct_share;
    if (statistics.longest_row > 0) problem.longest_rows[operand] = statistics.longest_row;
  }
  const auto& operands = request_.program->program.operands;
  if (freedom.may_share) problem.shareable = {operands.begin(), operands.end()};
  problem.is_part = is_part(statement);
  return problem;
}

// Whether the statement reduces into a dense result that GPU threads can update by atomics. Half
// types count, because their sums use a wider type.
bool LoopChooser::may_scatter(const expr::Statement& statement) const {
  const auto* reduce = statement.value.as<expr::Reduce>();
  const expr::TensorType& result = tensors_.at(statement.tensor);
  return is_gpu(request_.machine.backend) && reduce && nest::stands_alone(monoid_of(*reduce)) &&
         result.format.is_dense() && result.type != DType::Bool &&
         (!request_.machine.deterministic || is_exact_in_any_order(statement, result.type));
}

// Whether indices can be divided in more than one way.
bool LoopChooser::has_divided_operands(const expr::Statement& statement) const {
  const auto all = expr::accesses(statement.value);
  return std::any_of(all.begin(), all.end(), [&](const expr::Access* access) {
    const Format& format = tensors_.at(access->tensor).format;
    return format.has_blocks() || format.has_differences();
  });
}

// Whether the statement is one of several that add to a tensor.
bool LoopChooser::is_part(const expr::Statement& statement) const {
  const auto& all = request_.program->program.statements;
  return !statement.adds_to.empty() ||
         std::any_of(all.begin(), all.end(), [&](const expr::Statement& other) {
           return other.adds_to == statement.tensor;
         });
}

}  // namespace tulle::plan
