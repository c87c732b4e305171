// Combines the settings of the rules' knobs. Keeps distinct and legal schedules.
#include "plan/tune/schedule_space.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <set>

#include "plan/choose_schedule.h"
#include "plan/tune/schedule_cost.h"
#include "support/check.h"

namespace tulle::plan {

namespace {

constexpr size_t kMostLoopsToPermute = 5;
constexpr size_t kMostOrders = 6;
constexpr double kWorstOrder = 20;  // cost relative to the best order

// The orders of the outer loops, the chosen one first, that walk over every operand as stored and
// build the result in the same way.
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

// Sorts the candidates by estimated time, except the first one.
std::vector<ScheduledCandidate> in_order(std::vector<ScheduledCandidate> found) {
  std::stable_sort(found.begin() + std::min<std::ptrdiff_t>(1, std::ssize(found)), found.end(),
                   [](const auto& a, const auto& b) { return a.seconds < b.seconds; });
  return found;
}

// The GPU and variants of it for which the rules decide differently: whether rows are cut, and the
// widths of panels and vectors.
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

// The numbers of a step that a search varies: sizes of blocks, panels and groups, and copies of
// loops.
std::vector<int64_t*> sizes_of(schedule::Rewrite& rewrite) {
  using namespace schedule;  // NOLINT: of its steps
  if (auto* split = std::get_if<Split>(&rewrite)) return {&split->length};
  if (auto* split = std::get_if<SplitPositions>(&rewrite)) return {&split->length};
  if (auto* split = std::get_if<SplitEntries>(&rewrite)) return {&split->length};
  if (auto* unroll = std::get_if<Unroll>(&rewrite)) return {&unroll->copies};
  if (auto* deal = std::get_if<DealRows>(&rewrite))
    return {&deal->length, &deal->parts, &deal->turns};
  if (auto* split = std::get_if<SplitRows>(&rewrite)) {
    if (split->parts) return {&split->length, &*split->parts};
    return {&split->length};
  }
  return {};
}

// The alternative values for a number of a step. 0 omits the step.
std::vector<int64_t> other_sizes(const schedule::Rewrite& rewrite, int64_t size) {
  std::vector<int64_t> found = {0, 2, 4, 8, 16};
  if (!std::holds_alternative<schedule::Unroll>(rewrite)) {
    found = {size / 4, size / 2, 2 * size, 4 * size};
    std::erase(found, 0);
  }
  std::erase(found, size);
  return found;
}

// Calls `use` with the schedule, and with all variants that change the sizes of at most `changes`
// steps, starting at step `from`.
template <typename Use>
void for_each_size(const schedule::Schedule& schedule, size_t from, int changes, const Use& use) {
  use(schedule);
  if (changes == 0) return;
  for (size_t s = from; s < schedule.steps.size(); ++s) {
    schedule::Schedule changed = schedule;
    const std::vector<int64_t*> sizes = sizes_of(changed.steps[s].rewrite);
    for (int64_t* size : sizes) {
      const int64_t own = *size;
      for (const int64_t other : other_sizes(changed.steps[s].rewrite, own)) {
        if (other == 0) {
          schedule::Schedule fewer = schedule;
          fewer.steps.erase(fewer.steps.begin() + static_cast<std::ptrdiff_t>(s));
          for_each_size(fewer, s, changes - 1, use);
        } else {
          *size = other;
          for_each_size(changed, s + 1, changes - 1, use);
        }
      }
      *size = own;
    }
  }
}

}  // namespace

std::vector<ScheduledCandidate> schedule_space(const OrderProblem& problem,
                                               const OrderChoice& choice, const nest::Nest& nest,
                                               const Machine& machine) {
  ScheduleCost cost(problem, machine);
  std::vector<ScheduledCandidate> found;
  std::set<schedule::Schedule, schedule::OrderBySteps> seen;
  auto add = [&](const schedule::Schedule& schedule) {
    if (!seen.insert(schedule).second) return;
    if (const auto scheduled = nest_after(schedule, nest))
      found.push_back({schedule, cost.estimate(*scheduled)});
  };
  const schedule::Schedule planned = choose_schedule(problem, choice, nest, machine).schedule;
  add(planned);
  if (is_gpu(machine.backend)) {
    for (const Machine& other : similar_machines(machine)) {
      const schedule::Schedule similar = choose_schedule(problem, choice, nest, other).schedule;
      for_each_size(similar, 0, similar == planned ? 2 : 1, add);
    }
    return in_order(std::move(found));
  }
  for (const OrderChoice& order : other_orders(problem, choice)) {
    const bool is_chosen = order.order == choice.order;
    for_each_setting(machine, is_chosen, [&](const Knobs& knobs) {
      schedule::Schedule schedule;
      if (!is_chosen) schedule.add(schedule::Reorder{order.order});
      for (const schedule::Step& step :
           choose_schedule(problem, order, nest, machine, knobs).schedule.steps)
        schedule.steps.push_back(step);
      add(schedule);
    });
  }
  return in_order(std::move(found));
}

double estimate_schedule(const OrderProblem& problem, const nest::Nest& nest,
                         const Machine& machine, const schedule::Schedule& schedule) {
  return ScheduleCost(problem, machine).estimate(apply(schedule, nest));
}

}  // namespace tulle::plan
