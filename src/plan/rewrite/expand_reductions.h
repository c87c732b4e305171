// Expands reductions into reductions over the stored terms.
#pragma once

#include <functional>
#include <string>

#include "expr/program.h"

namespace tulle::plan {

// Returns an equivalent statement in which every Reduce is a sum, a product, a maximum or a minimum
// over the coordinates at which its body has a value. A nest can accumulate these. Further terms
// add the effect of absent values in the extent, whose number is a sum of ones. A mean becomes a
// sum divided by a count, and a stated `empty` becomes a choice by that count. In a dense result
// absent and 0 are equivalent, so a choice replaces an absent value.
expr::Statement expand_reductions(const expr::Statement& statement,
                                  const std::function<bool(const std::string& tensor)>& is_sparse,
                                  bool is_dense);

}  // namespace tulle::plan
