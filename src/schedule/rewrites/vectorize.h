// Runs an innermost loop with vectors.
#pragma once

#include "schedule/schedule.h"

namespace tulle::schedule {

// Tags the loops over `loop` to run `lanes` iterations at once. A loop can be vectorised if it is
// innermost and all tensors in it hold every coordinate of its variable. Refuses if no loop can be,
// and adds a remark if only some can.
Result<nest::Nest> vectorize(const nest::Nest& nest, const Vectorize& step,
                             Remarks* remarks = nullptr);

}  // namespace tulle::schedule
