// Recognises loops over positions in their lowered form.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "loop/stmt.h"

namespace tulle::passes {

// The counter of `while (p < end) { ...; p = p + step }`, provided that `end` is loop-invariant and
// that no other statement assigns to p.
struct LoopCounter {
  std::string name;
  loop::Expr end, step;
};
std::optional<LoopCounter> counter_of(const loop::While& loop);

// The leading statements of the body, which may have a block of their own, and the loop with these
// statements replaced.
std::vector<loop::Stmt> front_of(const loop::While& loop);
loop::Stmt with_front(const loop::While& loop, std::vector<loop::Stmt> front);

// An integer, usually a coordinate, that the leading statements load from read-only memory, with or
// without a conversion.
struct Coordinate {
  size_t at;  // its index among the statements
  const loop::Let* let;
  const loop::Load* load;
  loop::Expr place;  // its address as a function of the counter
};
std::vector<Coordinate> coordinates_of(const std::vector<loop::Stmt>& front,
                                       const loop::While& loop, const std::string& counter,
                                       const std::set<std::string>& read_only);

// The number of neighbouring lanes that execute the loop together because they combine values in
// it. 1 if the body has no lane operation.
int lanes_together(const loop::While& loop);

}  // namespace tulle::passes
