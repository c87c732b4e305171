// Rewrites the body of a loop so that it computes several iterations in vector lanes.
#pragma once

#include <map>
#include <set>
#include <string>

#include "loop/fresh_names.h"
#include "loop/stmt.h"
#include "passes/vector_facts.h"

namespace tulle::passes {

// The iterations that the widened body computes.
struct LaneRange {
  loop::Expr first;  // the loop variable in lane 0
  int lanes;
  loop::Expr mask;               // the active lanes; null: all. At least one is active.
  std::set<std::string> padded;  // local buffers that are padded for the inactive lanes
};

// The body of `loop` for the iterations of `range`. `partials` names the vector variable of each
// reduction. Values that are uniform across lanes remain scalars.
loop::Stmt widen(const loop::For& loop, const VectorFacts& facts, const LaneRange& range,
                 const std::map<std::string, std::string>& partials, loop::FreshNames& names);

}  // namespace tulle::passes
