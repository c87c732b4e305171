// The schedules that a search can try.
#pragma once

#include <string>
#include <vector>

#include "driver/compile.h"
#include "tulle/tulle.h"

namespace tulle {

// The schedules that a search can try for the statements of a request, by statement and in the
// caller's names: the planned one first, then the legal ones by estimated time. For the statements
// that a composite operand makes of one, a schedule applies to all of them if all take it.
// Otherwise it applies to those that take it, which differ only in names and widths.
std::vector<ScheduleCandidate> schedule_candidates(const CompileRequest& request);

// Combines the schedules of a request's statements into one that a caller could write. Parts of a
// statement with equal schedules share the steps.
std::string written_schedule(const CompileRequest& request,
                             const std::vector<schedule::Schedule>& schedules);

}  // namespace tulle
