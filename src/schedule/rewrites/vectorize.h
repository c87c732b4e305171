// Runs an innermost loop with vectors.
#pragma once

#include "schedule/schedule.h"

namespace tulle::schedule {

// Tags the loops over `loop` to run `lanes` iterations at once. Such a loop can be vectorised
// where it is innermost and all tensors in it hold every coordinate of its variable; refused where
// none can, with a remark where only some can.
Result<nest::Nest> vectorize(const nest::Nest& nest, const Vectorize& step,
                             Remarks* remarks = nullptr);

}  // namespace tulle::schedule
