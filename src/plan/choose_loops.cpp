// Comparing loops that divide indices as operands do with undivided ones.
#include "plan/choose_loops.h"

#include <algorithm>

#include "support/check.h"

namespace tulle::plan {

namespace {

OrderChoice decided_order(const OrderProblem& problem, const Decision& decision) {
  const std::string reason = why_not(problem, decision.order);
  if (reason.empty()) return evaluate_order(problem, decision.order);
  fail_at(decision.place, concat("the loops of '", problem.statement->tensor, "' ", reason));
}

// The order of loops that is best for operands of middling sizes.
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
  if (!freedom.may_convert || freedom.is_scheduled || stored.space.is_whole())
    return choose(std::move(stored));
  OrderProblem whole = make_problem(statement, freedom, Division::None);
  if (decision) {
    const bool divides = !why_not(whole, decision->order).empty();
    return choose(divides ? std::move(stored) : std::move(whole));
  }
  ChosenLoops divided = choose(std::move(stored)), undivided = choose(std::move(whole));
  const int tried = divided.tried + undivided.tried;
  ChosenLoops& cheaper = undivided.choice.cost < divided.choice.cost ? undivided : divided;
  cheaper.tried = tried;
  return std::move(cheaper);
}

OrderProblem LoopChooser::make_problem(const expr::Statement& statement, const Freedom& freedom,
                                       Division division) const {
  OrderProblem problem = make_order_problem(statement, tensors_, estimates_, division);
  problem.may_convert = freedom.may_convert;
  problem.assembles_blocks = request_.machine.kind == Machine::Kind::Cpu;
  problem.threads = request_.machine.threads;
  for (const auto& [operand, statistics] : request_.statistics) {
    problem.distinct_shares[operand] = statistics.distinct_share;
  }
  const auto& operands = request_.program->program.operands;
  if (freedom.may_share) problem.shareable = {operands.begin(), operands.end()};
  problem.is_part = is_part(statement);
  return problem;
}

// Whether it is one of several statements that add to a tensor.
bool LoopChooser::is_part(const expr::Statement& statement) const {
  const auto& all = request_.program->program.statements;
  return !statement.adds_to.empty() ||
         std::any_of(all.begin(), all.end(), [&](const expr::Statement& other) {
           return other.adds_to == statement.tensor;
         });
}

}  // namespace tulle::plan
