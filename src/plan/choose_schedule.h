// Chooses the schedule of a nest: accumulators in registers, vectors inside, parallel chunks
// outside, prefetching.
#pragma once

#include <cstdint>
#include <optional>

#include "plan/gpu/rules.h"
#include "plan/order/loop_order.h"
#include "schedule/schedule.h"

namespace tulle::plan {

// Settings that a search varies. The rules choose the value of an empty setting.
struct Knobs {
  enum class Parallel : uint8_t { Rows, Nnz, Merge, None };
  std::optional<int64_t> panel;  // columns accumulated in registers at a time; 0: none
  bool panels_outermost = false;
  std::optional<int> unroll;        // unroll factor of the entry loop; 1: not unrolled
  std::optional<int> vector_bytes;  // 0: no vectors
  std::optional<int64_t> prefetch;  // entries ahead; 0: none
  std::optional<bool> nontemporal;
  std::optional<Parallel> parallel;
};

struct ChosenSchedule {
  schedule::Schedule schedule;  // with the names of the nest
  GpuRules rules;               // the rules that a GPU schedule follows
};

ChosenSchedule choose_schedule(const OrderProblem& problem, const OrderChoice& choice,
                               const nest::Nest& nest, const Machine& machine,
                               const Knobs& knobs = {});

}  // namespace tulle::plan
