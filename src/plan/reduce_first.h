// Decides whether a GPU computes the reductions of a statement before it.
#pragma once

#include <optional>

#include "plan/order/choose_loops.h"
#include "plan/plan_draft.h"
#include "plan/rewrite/split_merges.h"

namespace tulle::plan {

// The statement with its reductions computed before it, if these have better schedules alone: a
// schedule with the columns of a product, or any schedule if rows cannot be gathered. Nothing
// otherwise, or if a caller scheduled the loops (`is_scheduled`).
std::optional<SplitStatement> reduced_first(const expr::Statement& statement, bool may_share,
                                            bool is_scheduled, const LoopChooser& loops,
                                            PlanDraft& draft);

}  // namespace tulle::plan
