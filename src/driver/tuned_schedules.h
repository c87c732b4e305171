// Schedules of tuned plans, found and stored by request.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "driver/compile.h"
#include "tulle/tulle.h"

namespace tulle {

// The schedules of the request's tuned plan, statement by statement. Empty if there is none, or if
// its text is invalid, which the log reports.
std::vector<schedule::Schedule> find_tuned_schedules(const CompileRequest& request);

// Compiles the request. If its tuned schedules are invalid, because another version stored them,
// clears them, calls `discard` (if any) to drop the stages so far, and compiles the planned ones.
Executable compile_tuned(CompileRequest& request, const StageSink& sink = {},
                         const std::function<void()>& discard = {});

// The measurements of the request's tuned plan, for explain; empty if there is none.
std::string describe_tuned_plan(const CompileRequest& request);

// Stores a measured schedule for all later requests like this one. Throws UserError if the schedule
// is invalid.
void keep_tuned_schedule(const CompileRequest& request, const MeasuredSchedule& measured);

}  // namespace tulle
