// Writes reductions as reductions over the terms that are present.
#pragma once

#include <functional>
#include <string>

#include "expr/program.h"

namespace tulle::plan {

// Returns an equivalent statement in which every Reduce is a sum, a product, a maximum or a minimum
// over the coordinates at which its body has a value, which a nest can accumulate. Absent values of
// an extent are folded in afterwards (their number is a sum of ones), a mean becomes a sum divided
// by a count, and a stated `empty` becomes a choice by that count. In a dense result absent and 0
// are the same, so a choice replaces an absent value.
expr::Statement expand_reductions(const expr::Statement& statement,
                                  const std::function<bool(const std::string& tensor)>& is_sparse,
                                  bool is_dense);

}  // namespace tulle::plan
