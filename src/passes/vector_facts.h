// Decides whether a loop can be vectorised, and collects facts for the rewrite.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "loop/stmt.h"

namespace tulle::passes {

// Why a loop cannot be vectorised. Thrown and caught inside the pass.
struct NotVectorizable {
  std::string reason;
};

// A variable declared outside the loop that every iteration updates by a reduction.
struct LaneReduction {
  std::string name;
  loop::ReduceOp op;
  loop::Type type;
};

struct VectorFacts {
  std::set<std::string> varying;  // variables of the body whose value differs between lanes
  std::vector<LaneReduction> reductions;
};

// Throws NotVectorizable if executing iterations of `loop` in lanes could change a result (other
// than by the order of a reduction), or if the body contains a node without a vector form. `extent`
// is the number of iterations if it is known.
VectorFacts check_vector_loop(const loop::For& loop, std::optional<int64_t> extent);

}  // namespace tulle::passes
