// Loops over positions in their lowered form.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "loop/stmt.h"

namespace tulle::passes {

// What `while (p < end) { ...; p = p + step }` counts, where the end stays and nothing else assigns
// to p.
struct LoopCounter {
  std::string name;
  loop::Expr end, step;
};
std::optional<LoopCounter> counter_of(const loop::While& loop);

// The statements at the front of the body, which may stand in a block of their own, and the body
// with others in their place.
std::vector<loop::Stmt> front_of(const loop::While& loop);
loop::Stmt with_front(const loop::While& loop, std::vector<loop::Stmt> front);

// How many neighbouring lanes run the loop together, since they combine what they have in it: 1
// where none do.
int lanes_together(const loop::While& loop);

}  // namespace tulle::passes
