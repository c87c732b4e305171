// Rewrites the body of a loop so that one run of it does the work of several iterations in vector
// lanes.
#pragma once

#include <map>
#include <set>
#include <string>

#include "loop/fresh_names.h"
#include "loop/stmt.h"
#include "passes/vector_facts.h"

namespace tulle::passes {

// Which iterations a run of the widened body stands for.
struct LaneRange {
  loop::Expr first;  // the loop variable in lane 0
  int lanes;
  loop::Expr mask;               // the lanes that exist; null for all. At least one does.
  std::set<std::string> padded;  // local buffers with room for the lanes that do not exist
};

// `loop`'s body for the iterations of `range`. `partials` names the vector variable that stands for
// each reduction. Values that are the same in all lanes stay scalars.
loop::Stmt widen(const loop::For& loop, const VectorFacts& facts, const LaneRange& range,
                 const std::map<std::string, std::string>& partials, loop::FreshNames& names);

}  // namespace tulle::passes
