// Loops over positions in their lowered form.
#pragma once

#include <optional>
#include <set>
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

// A whole number, a coordinate above all, that is loaded at the front of a loop, from memory that
// is only read, as it is or converted.
struct Coordinate {
  size_t at;  // among the statements
  const loop::Let* let;
  const loop::Load* load;
  loop::Expr place;  // where it is loaded from, as it follows from the counter
};
std::vector<Coordinate> coordinates_of(const std::vector<loop::Stmt>& front,
                                       const loop::While& loop, const std::string& counter,
                                       const std::set<std::string>& read_only);

// How many neighbouring lanes run the loop together, since they combine what they have in it: 1
// where none do.
int lanes_together(const loop::While& loop);

}  // namespace tulle::passes
