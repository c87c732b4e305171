// Settings of the rules' knobs, those kept that differ and are legal.
#include "plan/tune/schedule_space.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <set>

#include "plan/choose_schedule.h"
#include "plan/gpu/schedule_builder.h"
#include "plan/tune/schedule_cost.h"
#include "support/check.h"
#include "support/joined.h"
#include "tulle/error.h"

namespace tulle::plan {

namespace {

constexpr size_t kMostLoopsToPermute = 5;
constexpr size_t kMostOrders = 6;
constexpr double kWorstOrder = 20;  // against the cost of the best one

// The orders of the outer loops, the chosen one first, in which every operand is walked over as it
// is stored and the result is built in the same way.
std::vector<OrderChoice> other_orders(const OrderProblem& problem, const OrderChoice& choice) {
  std::vector<OrderChoice> found = {choice};
  if (problem.outer.size() > kMostLoopsToPermute || !problem.inner.empty()) return found;
  std::vector<std::string> order = problem.outer;
  std::sort(order.begin(), order.end());
  do {
    if (order == choice.order) continue;
    const auto at = [&](const std::string& var) {
      return std::find(order.begin(), order.end(), var);
    };
    const bool keeps_halves = std::all_of(order.begin(), order.end(), [&](const std::string& var) {
      const nest::Variable& variable = problem.space.variables.at(var);
      return variable.origin != nest::Variable::Origin::Inner ||
             at(problem.space.parts.at(variable.parent)[0]) < at(var);
    });
    if (!keeps_halves) continue;
    const OrderChoice other = evaluate_order(problem, order);
    if (other.converted.empty() && other.route == choice.route &&
        other.cost < kWorstOrder * choice.cost)
      found.push_back(other);
  } while (std::next_permutation(order.begin(), order.end()));
  std::stable_sort(found.begin() + 1, found.end(),
                   [](const auto& a, const auto& b) { return a.cost < b.cost; });
  if (found.size() > kMostOrders) found.resize(kMostOrders);
  return found;
}

template <typename T>
using Settings = std::vector<std::optional<T>>;

// Calls `use` with every combination of settings.
template <typename Use>
void for_each_setting(const Machine& machine, bool is_chosen_order, const Use& use) {
  using Parallel = Knobs::Parallel;
  Settings<int64_t> panels = {std::nullopt}, ahead = {std::nullopt, 0};
  Settings<int> copies = {std::nullopt}, vectors = {std::nullopt};
  Settings<bool> past = {std::nullopt};
  if (is_chosen_order) {
    panels = {std::nullopt, 0, 16, 32, 64, 128, 256};
    copies = {std::nullopt, 1, 4, 8};
    ahead = {std::nullopt, 0, 8, 16, 32, 64};
    past = {std::nullopt, false, true};
    if (machine.vector_bytes > 16) vectors.push_back(machine.vector_bytes / 2);
  }
  const Settings<Parallel> balances = {std::nullopt, Parallel::Rows, Parallel::Merge,
                                       Parallel::None};
  for (const auto& panel : panels) {
    for (const bool outermost : {false, true}) {
      if (outermost && panel == 0) continue;
      for (const auto& unroll : copies) {
        for (const auto& bytes : vectors) {
          for (const auto& prefetch : ahead) {
            for (const auto& nontemporal : past) {
              for (const auto& parallel : balances) {
                use(Knobs{panel, outermost, unroll, bytes, prefetch, nontemporal, parallel});
              }
            }
          }
        }
      }
    }
  }
}

// The first stays, the others come by estimated time.
std::vector<ScheduledCandidate> in_order(std::vector<ScheduledCandidate> found) {
  std::stable_sort(found.begin() + std::min<std::ptrdiff_t>(1, std::ssize(found)), found.end(),
                   [](const auto& a, const auto& b) { return a.seconds < b.seconds; });
  return found;
}

// The GPU, and others for which the rules would decide otherwise: whether rows are cut, how wide
// panels and vectors are.
std::vector<Machine> similar_machines(const Machine& machine) {
  std::vector<Machine> found = {machine};
  auto add = [&](auto change) {
    found.push_back(machine);
    change(found.back());
  };
  add([](Machine& other) { other.many_entries = 0; });
  add([](Machine& other) { other.many_entries = std::numeric_limits<int64_t>::max(); });
  add([](Machine& other) { other.last_cache /= 8; });
  add([](Machine& other) { other.last_cache *= 8; });
  add([](Machine& other) { other.vector_bytes /= 2; });
  return found;
}

// The number that a step may have instead of its own, which is the first; 0: the step is left out.
std::vector<int64_t> other_numbers(const schedule::Step& step, int64_t number) {
  if (step.rewrite == "unroll") return {number, 0, 2, 4, 8, 16};
  // Also split_positions, split_rows and split_entries; the lengths of pieces, blocks and turns.
  if (!step.rewrite.starts_with("split") && step.rewrite != "deal_rows") return {number};
  std::vector<int64_t> found = {number, number / 4, number / 2, 2 * number, 4 * number};
  std::erase(found, 0);
  return found;
}

// Calls `use` with the schedule and with those that have other numbers in at most two of its steps:
// sizes of blocks, of panels and of groups, copies of loops.
template <typename Use>
void for_each_number(const schedule::Schedule& schedule, size_t from, int changes, const Use& use) {
  use(schedule);
  for (size_t s = from; changes > 0 && s < schedule.steps.size(); ++s) {
    for (size_t a = 0; a < schedule.steps[s].arguments.size(); ++a) {
      const auto* number = std::get_if<int64_t>(&schedule.steps[s].arguments[a].value);
      if (!number) continue;
      for (const int64_t other : other_numbers(schedule.steps[s], *number)) {
        schedule::Schedule changed = schedule;
        if (other == *number || other < 0) continue;
        if (other == 0) {
          changed.steps.erase(changed.steps.begin() + static_cast<std::ptrdiff_t>(s));
        } else {
          changed.steps[s].arguments[a].value = other;
        }
        for_each_number(changed, other == 0 ? s : s + 1, changes - 1, use);
      }
    }
  }
}

}  // namespace

std::vector<ScheduledCandidate> schedule_space(const OrderProblem& problem,
                                               const OrderChoice& choice, const nest::Nest& nest,
                                               const Machine& machine) {
  ScheduleCost cost(problem, machine);
  std::vector<ScheduledCandidate> found;
  std::set<std::string> seen;
  auto add = [&](const std::string& text) {
    if (!seen.insert(text).second) return;
    if (const auto scheduled = applied(text, nest))
      found.push_back({text, cost.estimate(*scheduled)});
  };
  const std::string planned = choose_schedule(problem, choice, nest, machine).text;
  add(planned);
  if (is_gpu(machine.backend)) {
    for (const Machine& other : similar_machines(machine)) {
      const std::string text = choose_schedule(problem, choice, nest, other).text;
      for_each_number(schedule::parse_schedule(text), 0, text == planned ? 2 : 1,
                      [&](const schedule::Schedule& changed) { add(to_string(changed)); });
    }
    return in_order(std::move(found));
  }
  for (const OrderChoice& order : other_orders(problem, choice)) {
    const bool is_chosen = order.order == choice.order;
    const std::string first =
        is_chosen ? std::string() : concat("reorder(", joined(order.order), ")");
    for_each_setting(machine, is_chosen, [&](const Knobs& knobs) {
      const std::string rest = choose_schedule(problem, order, nest, machine, knobs).text;
      add(first.empty() || rest.empty() ? first + rest : concat(first, "; ", rest));
    });
  }
  return in_order(std::move(found));
}

double estimate_schedule(const OrderProblem& problem, const nest::Nest& nest,
                         const Machine& machine, const schedule::Schedule& schedule) {
  return ScheduleCost(problem, machine).estimate(apply(schedule, nest));
}

}  // namespace tulle::plan
