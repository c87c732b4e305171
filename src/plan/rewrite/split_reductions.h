// Separates reductions from the expressions that use them.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "plan/rewrite/gathering.h"
#include "plan/rewrite/split_merges.h"

namespace tulle::plan {

// Returns the statement with its reductions computed before it. Each goes into a dense tensor of
// its accumulation type, so that it can use atomics on a GPU. Returns nothing if the value is a
// reduction itself, if the result is sparse or distinguishes absent sums from 0, or if reductions
// depend on each other (argmax, softmax). `name` names a reduction.
std::optional<SplitStatement> split_reductions(
    const expr::Statement& statement, const Tensors& tensors,
    const std::function<std::string(const expr::Statement&)>& name);

}  // namespace tulle::plan
