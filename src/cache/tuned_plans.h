// Measured plans: a table of this process in front of the database on disk.
#pragma once

#include <cstdint>
#include <optional>

#include "jit/plan_store.h"

namespace tulle {

// The plan stored under the first four texts of `wanted`.
std::optional<jit::StoredPlan> find_tuned_plan(const jit::StoredPlan& wanted);

// Stores a plan for this process and, on disk, for others.
void keep_tuned_plan(const jit::StoredPlan& plan);

// Counts changes of the table, so that callers can tell when to look a plan up again.
uint64_t tuned_plan_changes();

}  // namespace tulle
