// The ways to build a result.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "plan/order/walked_operands.h"

namespace tulle::plan {

// The way to build a result. Dense: stores each value at its location. Shared: stores values at the
// positions of one operand's entries. Append: entries arrive in order. Tracked: gathers each
// innermost row, of entries or blocks, in a tracked workspace first. Sort: entries arrive in any
// order and are sorted afterwards.
enum class Route : uint8_t { Dense, Shared, Append, Tracked, Sort };
std::string_view text_of(Route route);

struct RouteChoice {
  Route route = Route::Dense;
  std::string shared = {};   // for Route::Shared: the operand
  std::string tracked = {};  // for Route::Tracked: the loop variable
};

// The cheapest route for loops in this order. The operands of the accesses in `converted` (by id)
// are sorted first, so a result cannot share their patterns.
RouteChoice choose_route(const WalkedOperands& operands, const std::vector<std::string>& order,
                         const std::set<int>& converted);

}  // namespace tulle::plan
