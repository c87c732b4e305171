// Decides whether a loop may run in lanes, and finds what the rewrite needs to know.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "loop/stmt.h"

namespace tulle::passes {

// Why a loop cannot be vectorised; thrown and caught inside the pass.
struct Refusal {
  std::string reason;
};

// A variable declared outside the loop into which every iteration combines a value.
struct LaneReduction {
  std::string name;
  loop::ReduceOp op;
  loop::Type type;
};

struct VectorFacts {
  std::set<std::string> varying;  // variables of the body whose value differs between lanes
  std::vector<LaneReduction> reductions;
};

// Throws a Refusal if running iterations of `loop` side by side could change a result (beyond the
// order of a reduction), or if the body holds what has no vector form. `extent`: how many
// iterations, where it is known.
VectorFacts check_vector_loop(const loop::For& loop, std::optional<int64_t> extent);

}  // namespace tulle::passes
