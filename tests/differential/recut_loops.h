// Random schedules of loops that are cut more than once.
#pragma once

#include "differential/random_case.h"
#include "differential/scheduled_statements.h"

namespace tulle::differential {

// Loops of a statement that are split, fused and split again, in any order with the steps that copy
// loops into the workspaces of sums, and only then bound. `fresh` numbers the loops that steps
// make.
void take_recut_loops(Dice& dice, ScheduledStatements& statements, size_t statement, bool gpu,
                      int& fresh);

}  // namespace tulle::differential
