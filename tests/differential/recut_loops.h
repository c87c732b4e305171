// Random schedules that cut loops more than once.
#pragma once

#include "differential/random_case.h"
#include "differential/scheduled_statements.h"

namespace tulle::differential {

// Splits, fuses and splits loops of a statement again, in random order with steps that copy loops
// into workspaces of sums. Binds loops only afterwards. `fresh` numbers the new loops.
void take_recut_loops(Dice& dice, ScheduledStatements& statements, size_t statement, bool gpu,
                      int& fresh);

}  // namespace tulle::differential
