// Reductions written out as reductions over terms that are there.
#pragma once

#include <functional>
#include <string>

#include "expr/program.h"

namespace tulle::plan {

// A statement of the same meaning in which every Reduce is a sum, a product, a maximum or a minimum
// over the coordinates at which its body has a value: what a nest can accumulate. Absent values of
// an extent are folded in afterwards (how many there are is a sum of ones), a mean is a sum over a
// count, a stated `empty` a choice by that count. Where the result is dense, absent and 0 are the
// same, so that a choice stands for what would be absent.
expr::Statement expand_reductions(const expr::Statement& statement,
                                  const std::function<bool(const std::string& tensor)>& is_sparse,
                                  bool is_dense);

}  // namespace tulle::plan
