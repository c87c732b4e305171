// Memory dependences between the iterations of a loop.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "loop/stmt.h"

namespace tulle::passes {

// Throws NotVectorizable if two iterations may access the same element of a buffer that the loop
// writes, in an order that lanes would change. Different buffers never overlap. `varying` contains
// the names whose value differs between lanes.
void check_memory(const loop::For& loop, std::optional<int64_t> extent,
                  const std::set<std::string>& varying);

}  // namespace tulle::passes
