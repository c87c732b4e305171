// What a search may try.
#pragma once

#include <string>
#include <vector>

#include "driver/compile.h"
#include "tulle/tulle.h"

namespace tulle {

// The schedules that could be tried for the statements of a request, in the names that were
// written, statement by statement: the planned one first, then by estimated time those that the
// request takes. Of the statements that a composite operand makes of one, all have a schedule that
// all of them take; any other is for those that take it, which differ in names and widths alone.
std::vector<ScheduleCandidate> schedule_candidates(const CompileRequest& request);

// The schedules of the statements of a request as one that a caller writes: for all parts of a
// statement where they are alike.
std::string written_schedule(const CompileRequest& request,
                             const std::vector<schedule::Schedule>& schedules);

}  // namespace tulle
