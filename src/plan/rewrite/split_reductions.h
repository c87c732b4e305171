// Statements that do something with what they have reduced, cut into statements that reduce and one
// that does it.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "plan/rewrite/gathering.h"
#include "plan/rewrite/split_merges.h"

namespace tulle::plan {

// The statement with its reductions computed before, each into a dense tensor of the type that it
// is accumulated in, so that each can run by atomics on a GPU. Nothing where the value is a
// reduction itself, where the result is sparse or tells absent sums from 0, and where reductions
// need each other (argmax, softmax). `name` gives a reduction a name.
std::optional<SplitStatement> split_reductions(
    const expr::Statement& statement, const Tensors& tensors,
    const std::function<std::string(const expr::Statement&)>& name);

}  // namespace tulle::plan
