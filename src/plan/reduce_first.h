// Whether a GPU computes the reductions of a statement before it.
#pragma once

#include <optional>

#include "plan/order/choose_loops.h"
#include "plan/plan_draft.h"
#include "plan/rewrite/split_merges.h"

namespace tulle::plan {

// The statement with its reductions computed before where these have better schedules alone: one
// that has the columns of a product, or one that rows cannot be gathered for. Nothing where they
// have not, and where a caller wrote how the loops run (`is_scheduled`).
std::optional<SplitStatement> reduced_first(const expr::Statement& statement, bool may_share,
                                            bool is_scheduled, const LoopChooser& loops,
                                            PlanDraft& draft);

}  // namespace tulle::plan
