// Runs an innermost loop with vectors.
#pragma once

#include "nest/nest.h"
#include "support/remarks.h"

namespace tulle::schedule {

// Tags the loops over `var` to run `lanes` iterations at once. A loop over `var` can be vectorised
// where it is innermost and all tensors in it hold every coordinate of `var`; refused where none
// can, with a remark where only some can.
nest::Nest vectorize(const nest::Nest& nest, const std::string& var, int64_t lanes,
                     Remarks* remarks = nullptr);

}  // namespace tulle::schedule
