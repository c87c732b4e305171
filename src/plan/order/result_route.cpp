// Chooses the route of a result.
#include "plan/order/result_route.h"

#include <algorithm>

#include "expr/absence.h"
#include "plan/order/native_order.h"
#include "support/mutant.h"

namespace tulle::plan {

using expr::Access;

namespace {

// The order in which the entries of a sparse result arrive.
struct Arrival {
  bool in_order = true;          // in the order of its levels
  bool before_sum = true;        // each entry once, with its complete sum
  bool only_last_in_sum = true;  // or only the innermost level is inside a sum
};

// Whether a full level is between two levels that store coordinates. Its rows are written before it
// is known whether the entry above exists.
bool stores_below_full(const Format& format) {
  bool stored = false, full = false;
  for (const Level& level : format.levels()) {
    if (full && !is_full(level.kind)) return true;
    stored = stored || !is_full(level.kind);
    full = stored && is_full(level.kind);
  }
  return false;
}

// The number of the last level that stores coordinates.
int last_stored_level(const Format& format) {
  int last = -1;
  for (int l = 0; l < format.level_count(); ++l) {
    if (!is_full(format.levels()[static_cast<size_t>(l)].kind)) last = l;
  }
  return last;
}

class RouteFinder {
 public:
  RouteFinder(const WalkedOperands& operands, const std::vector<std::string>& order)
      : operands_(operands), problem_(operands.problem), order_(order) {}

  RouteChoice find(const std::set<int>& converted) const {
    const Format& format = operands_.type_of(problem_.statement->tensor).format;
    if (format.is_dense()) return {Route::Dense, {}};
    if (const Access* owner = pattern_owner(converted)) return {Route::Shared, owner->tensor};
    const Arrival arrival = arrival_of(format);
    const bool in_order = arrival.in_order && (!stores_below_full(format) || copies_coordinates());
    if (!in_order && !mutant("order-never-sorts")) return {Route::Sort, {}};
    if (arrival.before_sum) return {Route::Append, {}};
    if (!arrival.only_last_in_sum) return {Route::Sort, {}};
    const Level& tracked = format.levels()[static_cast<size_t>(last_stored_level(format))];
    return {Route::Tracked,
            {},
            level_variable(tracked.expr, problem_.statement->indices, problem_.space)};
  }

 private:
  Arrival arrival_of(const Format& format) const {
    const expr::Statement& statement = *problem_.statement;
    const auto first_reduced =
        std::find_if(order_.begin(), order_.end(),
                     [&](const std::string& v) { return problem_.reduced.contains(v); });
    const int reduced_at = static_cast<int>(first_reduced - order_.begin());
    const int last_stored = last_stored_level(format);
    Arrival arrival;
    int previous = -1;
    for (int l = 0; l < format.level_count(); ++l) {
      const Level& level = format.levels()[static_cast<size_t>(l)];
      const auto [first, at] = place_of(level.expr, is_full(level.kind) && l < last_stored);
      if (first < 0 || first < previous) arrival.in_order = false;
      if (l > last_stored) continue;
      previous = std::max(previous, at);
      if (at <= reduced_at) continue;
      arrival.before_sum = false;
      const bool has_loop = !level_variable(level.expr, statement.indices, problem_.space).empty();
      const bool gathers = level.expr.is_whole() || level.expr.part == LevelExpr::Part::Quotient;
      if (l != last_stored || is_bounded(level.kind) || !has_loop || !gathers)
        arrival.only_last_in_sum = false;
    }
    return arrival;
  }

  // The positions of the loops that produce the coordinates of a level in order: one loop, or the
  // two halves of a split. -1 if none does. `all`: the loops must visit all coordinates.
  struct Place {
    int first = -1, last = -1;
  };
  Place place_of(const LevelExpr& level, bool all) const {
    const std::vector<std::string>& indices = problem_.statement->indices;
    const std::string var = level_variable(level, indices, problem_.space);
    if (!var.empty()) return {position_of(order_, var), position_of(order_, var)};
    const std::string& index = indices[static_cast<size_t>(level.dimension)];
    if (!level.is_whole()) return {};
    const std::vector<std::string>& parts = problem_.space.parts.at(index);
    if (parts.size() == 2) return {position_of(order_, parts[0]), position_of(order_, parts[1])};
    // If the loop over the subtracted index is outside, the difference ascends with the index.
    const std::string other = problem_.space.subtracted(index);
    if (other.empty() || all) return {};
    const int difference = position_of(order_, parts[0]);
    return position_of(order_, other) < difference ? Place{difference, difference} : Place{};
  }

  // Whether the statement copies a list of entries with all their coordinates, so that every
  // visited entry exists. Under other formats an upper coordinate may have no entries.
  bool copies_coordinates() const {
    const auto* access = problem_.statement->value.as<Access>();
    if (!access) return false;
    const auto& levels = operands_.type_of(access->tensor).format.levels();
    return !is_full(levels.front().kind) &&
           std::all_of(levels.begin() + 1, levels.end(),
                       [](const Level& level) { return is_branchless(level.kind); });
  }

  // The access that has exactly the entries of the result, in the same format, apart from dense
  // levels below; null if there is none.
  const Access* pattern_owner(const std::set<int>& converted) const {
    const auto& sparse = operands_.sparse;
    const auto found = std::find_if(sparse.begin(), sparse.end(), [&](const Access* access) {
      return !converted.contains(access->id) && has_all_entries(*access) &&
             is_stored_alike(*access);
    });
    return found == sparse.end() ? nullptr : *found;
  }

  // Whether the result has an entry exactly where the access has one.
  bool has_all_entries(const Access& access) const {
    const auto& sparse = operands_.sparse;
    if (sparse.size() == 1 && mutant("pattern-shared-anyway")) return true;
    if (!operands_.decisive.contains(access.id)) return false;
    if (sparse.size() == 1) return true;
    // Lowering finds the positions of the owner by its name.
    const bool is_only_access =
        std::none_of(sparse.begin(), sparse.end(), [&](const Access* other) {
          return other->tensor == access.tensor && other->id != access.id;
        });
    const expr::Expr alone = expr::without(problem_.statement->value, [&](const Access& other) {
      return other.id != access.id && !operands_.type_of(other.tensor).format.is_dense();
    });
    return is_only_access && !expr::is_zero(alone);
  }

  bool is_stored_alike(const Access& access) const {
    const expr::TensorType& from = operands_.type_of(access.tensor);
    const expr::TensorType& to = operands_.type_of(problem_.statement->tensor);
    const std::set<std::string> different(access.indices.begin(), access.indices.end());
    return from.format.is_unique() && from.format.is_ordered() &&
           from.index_type == to.index_type && different.size() == access.indices.size() &&
           problem_.shareable.contains(access.tensor) &&
           has_levels_of(access, from.format, to.format);
  }

  // Whether the levels of the result equal those of the access, except for the order of dimensions.
  // Below them the result may have dense levels: each entry of the access becomes a dense block.
  bool has_levels_of(const Access& access, const Format& from, const Format& to) const {
    if (from.level_count() > to.level_count()) return false;
    for (auto l = static_cast<size_t>(from.level_count()); l < to.levels().size(); ++l) {
      const Level& below = to.levels()[l];
      if (!is_full(below.kind) || !below.expr.is_whole()) return false;
    }
    const auto same_index = [&](int first, int second) {
      return (first < 0 && second < 0) ||
             (first >= 0 && second >= 0 &&
              access.indices[static_cast<size_t>(first)] ==
                  problem_.statement->indices[static_cast<size_t>(second)]);
    };
    for (size_t l = 0; l < from.levels().size(); ++l) {
      const Level &a = from.levels()[l], &b = to.levels()[l];
      Level moved = a;
      moved.expr.dimension = b.expr.dimension;
      moved.expr.second = b.expr.second;
      if (moved != b || !same_index(a.expr.dimension, b.expr.dimension) ||
          !same_index(a.expr.second, b.expr.second)) {
        return false;
      }
    }
    return true;
  }

  const WalkedOperands& operands_;
  const OrderProblem& problem_;
  const std::vector<std::string>& order_;
};

}  // namespace

std::string_view text_of(Route route) {
  constexpr std::string_view names[] = {"dense", "shared pattern", "appended in order",
                                        "rows through a workspace", "sorted afterwards"};
  return names[static_cast<int>(route)];
}

RouteChoice choose_route(const WalkedOperands& operands, const std::vector<std::string>& order,
                         const std::set<int>& converted) {
  return RouteFinder(operands, order).find(converted);
}

}  // namespace tulle::plan
