// Plans that were found by measuring: kept for this process and, on disk, for others.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compile.h"
#include "jit/plan_store.h"
#include "tulle/tulle.h"

namespace tulle {

// The plan for requests like this one, if one was kept.
std::optional<jit::StoredPlan> find_tuned_plan(const CompileRequest& request);
// Its schedules, statement by statement; empty, which the log says, where they make no sense.
std::vector<schedule::Schedule> tuned_schedules(const CompileRequest& request,
                                                const jit::StoredPlan& plan);
// What was measured, for explain.
std::string describe_tuned_plan(const CompileRequest& request);

// Keeps it for all that asks from now on. UserError where the schedule is wrong.
void keep_tuned_plan(const CompileRequest& request, const MeasuredSchedule& measured);
// Counts what was kept in this process: who has asked before asks again when it changes.
uint64_t tuned_plans_kept();

}  // namespace tulle
