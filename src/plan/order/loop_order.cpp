// Searches the loop orders of a statement.
#include "plan/order/loop_order.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "expr/walk.h"
#include "plan/order/contiguous_loop.h"
#include "plan/order/loop_trips.h"
#include "plan/order/member_loops.h"
#include "plan/order/native_order.h"
#include "support/check.h"
#include "support/joined.h"

namespace tulle::plan {

using expr::Access;

namespace {

// Approximate costs, in scalar steps of an inner loop.
constexpr double kVectorStep = 0.15;  // an element of a contiguous loop
constexpr double kStridedStep = 2;    // an element of a strided dense loop
constexpr double kOtherLine = 0.5;    // an element in another cache line than the one before
constexpr double kSortedEntry = 60;   // appends an entry and sorts it
constexpr double kLastResort = 1e18;  // exceeds the cost of every other choice
constexpr double kCopiedEntry = 6;    // appends an entry that arrives in order
constexpr double kConversion = 3000;  // fixed cost of a conversion: its kernels and memory
constexpr double kSkippedStep = 1;    // skips a coordinate that some operand lacks
// search for an entry of a tracked workspace, which replaces sorting
constexpr double kLooksForAnEntry = 4;
constexpr double kTrackedStep = 3;  // adds to a tracked workspace
// initialises an element of a workspace with the length of a row
constexpr double kFreshElement = 4;
constexpr double kStateStep = 1;  // updates a maximum in memory that scales other sums
constexpr double kFunction = 20;  // an elementary function, such as exp

// Efficiencies, shares of the work of one worker.
constexpr double kParallelShare = 0.9;  // a worker that stores its own results
constexpr double kScatterShare = 0.3;   // a worker that adds by atomics

// The limit on partial orders. Only statements with more than seven loops reach it.
constexpr int kMostBeginnings = 15000;
constexpr size_t kLoopsToTryAll = 7;

class Search {
 public:
  explicit Search(const OrderProblem& problem)
      : problem_(problem), operands_(problem), outer_(problem.outer) {
    if (outer_.size() > kLoopsToTryAll) begin_with_the_largest();
    best_.cost = std::numeric_limits<double>::infinity();
  }

  OrderChoice run() {
    extend({}, 1, 0);
    TULLE_CHECK(best_.cost < std::numeric_limits<double>::infinity(), "a loop order for ",
                problem_.statement->tensor);
    best_.tried = beginnings_;
    return best_;
  }

  std::string why_not(const std::vector<std::string>& order) const {
    std::vector<std::string> all = problem_.outer;
    all.insert(all.end(), problem_.inner.begin(), problem_.inner.end());
    if (!std::is_permutation(all.begin(), all.end(), order.begin(), order.end()))
      return concat("are ", joined(all, " "), " in some order");
    std::vector<std::string> outside;
    for (const std::string& var : order) {
      const bool is_inner =
          std::find(problem_.inner.begin(), problem_.inner.end(), var) != problem_.inner.end();
      if (is_inner && outside.size() < problem_.outer.size())
        return concat("have that over ", var, " inside ", joined(problem_.outer, " "));
      if (!may_follow(outside, var))
        return concat("have that over ", var, " inside others that come after it here");
      outside.push_back(var);
    }
    if (conversions(order) == std::numeric_limits<double>::infinity())
      return "cannot walk over the operand as it is stored, and this statement may not convert it";
    return {};
  }

  OrderChoice evaluate(const std::vector<std::string>& order) {
    std::vector<std::string> outside;
    double visits = 1, cost = 0;
    for (const std::string& var : order) {
      cost += estimate_skips(operands_, outside, var, visits) * kSkippedStep;
      visits = estimate_visits(operands_, outside, var, visits);
      cost += price_of_state(outside, var, visits);
      const double step = price_of_step(outside, var);
      outside.push_back(var);
      if (outside.size() < order.size()) cost += visits * step;
    }
    finish(order, visits, cost);
    TULLE_CHECK(best_.order == order, "a way to run the loops of ", problem_.statement->tensor);
    return best_;
  }

 private:
  // If there are too many orders to try all, the first one should be good: starts with the storage
  // order of the sparse operand with the most entries.
  void begin_with_the_largest() {
    const auto largest = std::max_element(
        operands_.sparse.begin(), operands_.sparse.end(), [&](const Access* a, const Access* b) {
          return problem_.counts.at(a->tensor) < problem_.counts.at(b->tensor);
        });
    if (largest == operands_.sparse.end()) return;
    const auto& levels = operands_.type_of((*largest)->tensor).format.levels();
    auto level_of = [&](const std::string& var) {
      return std::find_if(levels.begin(), levels.end(), [&](const Level& level) {
        return level_variable(level.expr, (*largest)->indices, problem_.space) == var;
      });
    };
    std::stable_sort(outer_.begin(), outer_.end(), [&](const std::string& a, const std::string& b) {
      return level_of(a) < level_of(b);
    });
  }

  // The parallel speedup of orders with this beginning.
  double workers(const std::vector<std::string>& order) const {
    if (problem_.outer.empty()) return 1;
    const bool sums = !order.empty() && problem_.reduced.contains(order[0]);
    if (sums && !problem_.may_scatter) return 1;
    const double most = order.empty() ? problem_.threads : problem_.extents.at(order[0]);
    const double share = sums ? kScatterShare : kParallelShare;
    return std::max(1.0, share * std::min<double>(problem_.threads, most));
  }

  // The cost of converting the operands that no order with this beginning can walk over as stored.
  double conversions(const std::vector<std::string>& order) const {
    double price = 0;
    for (const Access* access : operands_.sparse) {
      if (!operands_.is_converted(*access, order)) continue;
      if (!problem_.may_convert) return std::numeric_limits<double>::infinity();
      price += price_of_conversion(*access, order);
    }
    return price;
  }

  double price_of_conversion(const Access& access, const std::vector<std::string>& order) const {
    const double entry = comes_in_order(access, order) ? kCopiedEntry : kSortedEntry;
    const double price =
        kConversion + rows_read(access) + problem_.counts.at(access.tensor) * entry;
    return problem_.keeps_storage ? price + kLastResort : price;
  }

  // The number of rows that a copy of the operand reads, including empty ones.
  double rows_read(const Access& access) const {
    double rows = 1;
    for (const Level& level : operands_.type_of(access.tensor).format.levels()) {
      if (!is_full(level.kind)) break;
      rows *= extent_of(level.expr, access);
    }
    return rows;
  }

  double extent_of(const LevelExpr& level, const Access& access) const {
    if (level.part == LevelExpr::Part::Remainder) return static_cast<double>(level.divisor);
    double extent = 1;
    for (const std::string& part :
         problem_.space.parts.at(access.indices[static_cast<size_t>(level.dimension)]))
      extent *= problem_.extents.at(part);
    return std::ceil(extent / static_cast<double>(level.divisor));
  }

  // Whether a conversion for orders with this beginning writes the copy in the order in which it
  // reads the operand. This holds for whole indices that have the same order in both.
  bool comes_in_order(const Access& access, const std::vector<std::string>& order) const {
    const Format& format = operands_.type_of(access.tensor).format;
    if (!format.is_ordered() || format.has_differences()) return false;
    int previous = -1;
    std::set<std::string> seen;
    for (const Level& level : format.levels()) {
      const std::string& index = access.indices[static_cast<size_t>(level.expr.dimension)];
      if (!seen.insert(index).second) continue;
      const std::vector<std::string>& parts = problem_.space.parts.at(index);
      if (parts.size() != 1 || parts[0] != index) return false;
      int at = position_of(order, index);
      if (at < 0) at = static_cast<int>(order.size());
      if (at < previous) return false;
      previous = at;
    }
    return true;
  }

  // Extends the order by every variable that may come next. `visits` is the number of times this
  // depth is reached. `cost` is the cost of the loops so far without the innermost one; finish()
  // computes the cost of its steps.
  void extend(const std::vector<std::string>& order, double visits, double cost) {
    if (++beginnings_ > kMostBeginnings && !best_.order.empty()) return;
    if ((cost + conversions(order)) / workers(order) / most_members_ >= best_.cost) return;
    const size_t loops = problem_.outer.size() + problem_.inner.size();
    const bool outer_left = order.size() < outer_.size();
    for (const std::string& var : outer_left ? outer_ : problem_.inner) {
      if (position_of(order, var) >= 0 || !may_follow(order, var)) continue;
      std::vector<std::string> longer = order;
      longer.push_back(var);
      const double more = estimate_visits(operands_, order, var, visits);
      const double beside = price_of_state(order, var, more) +
                            estimate_skips(operands_, order, var, visits) * kSkippedStep;
      const double steps = longer.size() == loops ? 0 : more * price_of_step(order, var);
      extend(longer, more, cost + beside + steps);
    }
    if (order.size() == loops) finish(order, visits, cost);
  }

  // The cost of one step of a loop that is not the last one, after the loops of this order. A
  // tuple's last outer loop contains no other loop if the sums in its terms are beside it.
  double price_of_step(const std::vector<std::string>& order, const std::string& var) const {
    const bool is_beside =
        std::all_of(problem_.inner.begin(), problem_.inner.end(), [&](const std::string& inner) {
          const auto used = problem_.used.find(inner);
          return used != problem_.used.end() && !used->second.contains(var);
        });
    const bool is_last = order.size() + 1 == outer_.size() && !problem_.inner.empty();
    const bool is_dense = std::none_of(operands_.sparse.begin(), operands_.sparse.end(),
                                       [&](const Access* a) { return operands_.walks(*a, var); });
    return is_last && is_beside && is_dense && !problem_.reduced.contains(var) ? kVectorStep : 1;
  }

  // The cost of a tuple's lead that has many elements and is not in a register.
  double price_of_state(const std::vector<std::string>& order, const std::string& var,
                        double visits) const {
    if (!problem_.leading.contains(var) || problem_.reduced.contains(var)) return 0;
    const bool inside = std::any_of(order.begin(), order.end(), [&](const std::string& other) {
      return problem_.reduced.contains(other);
    });
    return inside ? visits * kStateStep : 0;
  }

  // Whether the order contains all loops that must be outside the one over the variable.
  bool may_follow(const std::vector<std::string>& order, const std::string& var) const {
    // The inner half of a split follows its outer half.
    const nest::Variable& variable = problem_.space.variables.at(var);
    if (variable.origin == nest::Variable::Origin::Inner &&
        position_of(order, problem_.space.parts.at(variable.parent)[0]) < 0) {
      return false;
    }
    const auto before = problem_.before.find(var);
    return before == problem_.before.end() ||
           std::all_of(before->second.begin(), before->second.end(),
                       [&](const std::string& other) { return position_of(order, other) >= 0; });
  }

  // The number of times that the loop over the variable visits a coordinate.
  double visits_of(const std::vector<std::string>& order, const std::string& var) const {
    std::vector<std::string> outside;
    double visits = 1;
    for (const std::string& loop : order) {
      visits = estimate_visits(operands_, outside, loop, visits);
      if (loop == var) break;
      outside.push_back(loop);
    }
    return visits;
  }

  // Whether the rows of a tracked workspace have so many entries that a scan over all coordinates
  // is cheaper than sorting.
  bool is_well_filled(const std::vector<std::string>& order, const std::string& tracked) const {
    if (!is_gpu(problem_.backend)) return false;
    const auto first = std::find_if(order.begin(), order.end(), [&](const std::string& var) {
      return problem_.reduced.contains(var);
    });
    const double rows = first == order.begin() ? 1 : visits_of(order, *(first - 1));
    return rows * problem_.extents.at(tracked) <= visits_of(order, tracked) * kLooksForAnEntry;
  }

  // The number of entries in a result that is sorted later; `visits` is the number of iterations of
  // the innermost loop. Each sum that is complete before it is appended gives one entry. Otherwise
  // each term gives one.
  double appended_entries(const std::vector<std::string>& order, double visits) const {
    const auto is_summed = [&](const std::string& var) { return problem_.reduced.contains(var); };
    const auto first = std::find_if(order.begin(), order.end(), is_summed);
    if (first == order.begin() || first == order.end() ||
        !std::all_of(first, order.end(), is_summed))
      return visits;
    return visits_of(order, *(first - 1));
  }

  // Whether loops can merge the operand with others: its coordinates must be ordered and unique.
  static bool can_be_merged(const Format& format) {
    return format.is_ordered() && !format.repeats_above_full();
  }

  void finish(const std::vector<std::string>& order, double visits, double cost) {
    OrderChoice choice;
    choice.order = order;
    for (const Access* access : operands_.sparse) {
      const Format& format = operands_.type_of(access->tensor).format;
      const bool native = is_native(format, access->indices, order, problem_.space);
      if (native && (can_be_merged(format) || !problem_.may_convert)) continue;
      if (!problem_.may_convert) return;
      choice.converted.insert(access->id);
      cost += price_of_conversion(*access, order);
    }
    const RouteChoice route = choose_route(operands_, order, choice.converted);
    choice.route = route.route;
    choice.shared = route.shared;
    const bool any_order =
        std::any_of(operands_.sparse.begin(), operands_.sparse.end(), [&](const Access* access) {
          return !can_be_merged(operands_.type_of(access->tensor).format) &&
                 !choice.converted.contains(access->id);
        });
    if (any_order && choice.route != Route::Dense) choice.route = Route::Sort;
    if (choice.route == Route::Tracked) {
      // For hypersparse results, sorting the few entries costs less than arrays with the length of
      // a row. A caller's schedule must work for any operands, so there the choice does not depend
      // on sizes.
      const double arrays = problem_.extents.at(route.tracked) * kFreshElement;
      if (arrays > visits * kSortedEntry && !problem_.keeps_storage)
        choice.route = Route::Sort;
      else
        cost += visits_of(order, route.tracked) * kTrackedStep + arrays;
    }
    if (choice.route == Route::Tracked) {
      choice.members = member_loops(operands_, order, route, choice.converted);
      choice.scans = is_well_filled(order, route.tracked);
    }
    choice.vectorized = is_contiguous(operands_, order, choice.route);
    const bool dense_innermost =
        !order.empty() &&
        std::none_of(operands_.sparse.begin(), operands_.sparse.end(),
                     [&](const Access* a) { return operands_.walks(*a, order.back()); });
    cost += visits * (choice.vectorized ? kVectorStep : dense_innermost ? kStridedStep : 1);
    if (!is_gpu(problem_.backend)) {
      cost += other_lines(order, choice.route);
      cost += functions(order, choice.vectorized);
    }
    if (choice.route == Route::Sort) cost += appended_entries(order, visits) * kSortedEntry;
    cost /= workers(order);
    for (const std::string& var : choice.members) cost /= problem_.extents.at(var);
    choice.cost = cost;
    if (cost < best_.cost) best_ = choice;
  }

  // The cost of dense tensors of which successive iterations use elements in different cache lines,
  // because the innermost loop over one of their indices is not that over neighbours.
  double other_lines(const std::vector<std::string>& order, Route route) const {
    double cost = 0;
    const auto add = [&](const Format& format, const std::vector<std::string>& indices) {
      if (!format.is_dense() || indices.size() < 2) return;
      std::string innermost;
      for (const std::string& index : indices) {
        const std::vector<std::string>& parts = problem_.space.parts.at(index);
        if (parts.size() != 1) return;
        if (innermost.empty() || position_of(order, parts[0]) > position_of(order, innermost))
          innermost = parts[0];
      }
      const auto& last = indices[static_cast<size_t>(format.levels().back().expr.dimension)];
      if (innermost != problem_.space.parts.at(last)[0])
        cost += visits_of(order, innermost) * kOtherLine;
    };
    for (const Access* access : operands_.all)
      add(operands_.type_of(access->tensor).format, access->indices);
    if (route == Route::Dense)
      add(operands_.type_of(problem_.statement->tensor).format, problem_.statement->indices);
    return cost;
  }

  // The cost of the elementary functions in the value. Each is computed in the innermost loop over
  // an index of its argument, once for equal arguments.
  double functions(const std::vector<std::string>& order, bool vectorized) const {
    double cost = 0;
    std::set<std::string> counted;
    expr::any_part(problem_.statement->value, [&](const expr::Expr& part) {
      const expr::Expr argument = argument_of_function(part);
      if (argument && counted.insert(expr::to_string(argument)).second) {
        cost += function_of(argument, order, vectorized);
      }
      return false;
    });
    return cost;
  }

  double function_of(const expr::Expr& argument, const std::vector<std::string>& order,
                     bool vectorized) const {
    int innermost = -1;
    for (const std::string& index : expr::free_indices(argument)) {
      for (const std::string& var : problem_.space.parts.at(index)) {
        innermost = std::max(innermost, position_of(order, var));
      }
    }
    if (innermost < 0) return 0;
    const std::string& loop = order[static_cast<size_t>(innermost)];
    const bool is_vector = vectorized && loop == order.back();
    return visits_of(order, loop) * kFunction * (is_vector ? kVectorStep : 1);
  }

  // The argument of an elementary function, or the exponent that scales a sum; null for others.
  static expr::Expr argument_of_function(const expr::Expr& value) {
    if (const auto* unary = value.as<expr::Unary>()) {
      return expr::is_elementary(unary->function) ? unary->value : expr::Expr();
    }
    const auto* reduce = value.as<expr::Reduce>();
    if (!reduce || reduce->op != expr::Reduction::ExpSum) return {};
    return expr::children(reduce->body).front();
  }

  const OrderProblem& problem_;
  const WalkedOperands operands_;
  const double most_members_ = most_members(problem_);
  std::vector<std::string> outer_;  // the problem's `outer`, in the order of the search
  int beginnings_ = 0;
  OrderChoice best_;
};

}  // namespace

OrderChoice choose_order(const OrderProblem& problem) { return Search(problem).run(); }

std::string why_not(const OrderProblem& problem, const std::vector<std::string>& order) {
  return Search(problem).why_not(order);
}

OrderChoice evaluate_order(const OrderProblem& problem, const std::vector<std::string>& order) {
  return Search(problem).evaluate(order);
}

}  // namespace tulle::plan
