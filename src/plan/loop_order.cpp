// Searching the loop orders of a statement.
#include "plan/loop_order.h"

#include <algorithm>
#include <limits>

#include "expr/absence.h"
#include "support/check.h"
#include "support/mutant.h"

namespace tulle::plan {

using expr::Access;

namespace {

// Rough prices in units of one scalar step of an inner loop.
constexpr double kVectorStep = 0.15;    // one element of a contiguous loop
constexpr double kStridedStep = 2;      // one element of a dense loop that jumps
constexpr double kSortedEntry = 60;     // appending an entry and sorting it
constexpr double kTrackedStep = 3;      // adding into a tracked workspace
constexpr double kStateStep = 1;        // updating a maximum that scales other sums in memory
constexpr double kParallelShare = 0.9;  // of a worker's time that is not lost

// Beginnings of orders that a search looks at: more than seven loops have.
constexpr int kMostBeginnings = 15000;
constexpr size_t kLoopsToTryAll = 7;

int position_of(const std::vector<std::string>& order, const std::string& var) {
  const auto found = std::find(order.begin(), order.end(), var);
  return found == order.end() ? -1 : static_cast<int>(found - order.begin());
}

class Search {
  friend double tulle::plan::estimate_trips(const OrderProblem&, const std::vector<std::string>&,
                                            const std::string&);

 public:
  explicit Search(const OrderProblem& problem)
      : problem_(problem),
        accesses_(expr::accesses(problem.statement->value)),
        outer_(problem.outer) {
    for (const Access* access : accesses_) {
      const Format& format = type_of(access->tensor).format;
      const bool known = std::any_of(sparse_.begin(), sparse_.end(),
                                     [&](const Access* other) { return other->id == access->id; });
      if (format.is_dense() || known) continue;
      sparse_.push_back(access);
      const auto left = expr::without(problem.statement->value,
                                      [&](const Access& a) { return a.id == access->id; });
      if (expr::is_zero(left)) decisive_.insert(access->id);
    }
    if (outer_.size() > kLoopsToTryAll) begin_with_the_largest();
    best_.cost = std::numeric_limits<double>::infinity();
  }

  OrderChoice run() {
    extend({}, 1, 0);
    TULLE_CHECK(best_.cost < std::numeric_limits<double>::infinity(), "a loop order for ",
                problem_.statement->tensor);
    return best_;
  }

  OrderChoice evaluate(const std::vector<std::string>& order) {
    std::vector<std::string> outside;
    double visits = 1, cost = 0;
    for (const std::string& var : order) {
      visits = visits_around(outside, var, visits) * trips(outside, var);
      cost += price_of_state(outside, var, visits);
      outside.push_back(var);
      if (outside.size() < order.size()) cost += visits;
    }
    finish(order, visits, cost);
    TULLE_CHECK(best_.order == order, "a way to run the loops of ", problem_.statement->tensor);
    return best_;
  }

 private:
  const expr::TensorType& type_of(const std::string& tensor) const {
    return problem_.tensors->at(tensor);
  }

  // Where there are too many orders to try all, the first one should be good: that in which the
  // sparse operand with the most entries is stored.
  void begin_with_the_largest() {
    const auto largest =
        std::max_element(sparse_.begin(), sparse_.end(), [&](const Access* a, const Access* b) {
          return problem_.counts.at(a->tensor) < problem_.counts.at(b->tensor);
        });
    if (largest == sparse_.end()) return;
    const auto& levels = type_of((*largest)->tensor).format.levels();
    auto level_of = [&](const std::string& var) {
      return std::find_if(levels.begin(), levels.end(), [&](const Level& level) {
        return level_variable(level.expr, (*largest)->indices, problem_.space) == var;
      });
    };
    std::stable_sort(outer_.begin(), outer_.end(), [&](const std::string& a, const std::string& b) {
      return level_of(a) < level_of(b);
    });
  }

  // By how much threads divide the cost of an order that begins like this.
  double workers(const std::vector<std::string>& order) const {
    const bool parallel =
        !problem_.outer.empty() && (order.empty() || !problem_.reduced.contains(order[0]));
    return parallel && problem_.threads > 1 ? kParallelShare * problem_.threads : 1;
  }

  // The price of the operands that no order that begins like this walks over as they are stored.
  double conversions(const std::vector<std::string>& order) const {
    double price = 0;
    for (const Access* access : sparse_) {
      const Format& format = type_of(access->tensor).format;
      std::vector<std::string> as_stored = order;
      for (const Level& level : format.levels()) {
        const std::string var = level_variable(level.expr, access->indices, problem_.space);
        if (!var.empty() && position_of(order, var) < 0) as_stored.push_back(var);
      }
      if (is_native(format, access->indices, as_stored, problem_.space)) continue;
      if (!problem_.may_convert) return std::numeric_limits<double>::infinity();
      price += problem_.counts.at(access->tensor) * kSortedEntry;
    }
    return price;
  }

  // Adds every variable that may come next; `visits` is how often this depth is reached, `cost`
  // what the loops so far cost, the innermost one excepted: finish() knows what a step of it costs.
  void extend(std::vector<std::string> order, double visits, double cost) {
    if (++beginnings_ > kMostBeginnings && !best_.order.empty()) return;
    if ((cost + conversions(order)) / workers(order) >= best_.cost) return;
    const bool outer_left = order.size() < outer_.size();
    const auto& candidates = outer_left ? outer_ : problem_.inner;
    bool complete = true;
    for (const std::string& var : candidates) {
      if (position_of(order, var) >= 0) continue;
      complete = false;
      // The inner half of a split follows its outer half.
      const nest::Variable& variable = problem_.space.variables.at(var);
      if (variable.origin == nest::Variable::Origin::Inner &&
          position_of(order, problem_.space.parts.at(variable.parent)[0]) < 0) {
        continue;
      }
      const auto before = problem_.before.find(var);
      if (before != problem_.before.end() &&
          std::any_of(before->second.begin(), before->second.end(),
                      [&](const std::string& other) { return position_of(order, other) < 0; })) {
        continue;
      }
      std::vector<std::string> longer = order;
      longer.push_back(var);
      const double more = visits_around(order, var, visits) * trips(order, var);
      const double state = price_of_state(order, var, more);
      const bool innermost = longer.size() == problem_.outer.size() + problem_.inner.size();
      extend(longer, more, cost + state + (innermost ? 0 : more));
    }
    if (complete && order.size() == problem_.outer.size() + problem_.inner.size())
      finish(order, visits, cost);
  }

  // How often the loop over a variable is entered that follows on these, the last of which run so
  // often. A sum in a term of a tuple stands in the loops alone that its workspace depends on.
  double visits_around(const std::vector<std::string>& order, const std::string& var,
                       double visits) const {
    const auto used = problem_.used.find(var);
    if (used == problem_.used.end()) return visits;
    size_t around = 0;
    for (size_t at = 0; at < order.size(); ++at) {
      if (problem_.reduced.contains(order[at]) || used->second.contains(order[at])) around = at + 1;
    }
    double product = 1;
    std::vector<std::string> outside;
    for (size_t at = 0; at < order.size(); ++at) {
      if (at < around || at >= problem_.outer.size()) product *= trips(outside, order[at]);
      outside.push_back(order[at]);
    }
    return product;
  }

  // What it costs that the lead of a tuple is one of many, and not in a register.
  double price_of_state(const std::vector<std::string>& order, const std::string& var,
                        double visits) const {
    if (!problem_.leading.contains(var) || problem_.reduced.contains(var)) return 0;
    const bool inside = std::any_of(order.begin(), order.end(), [&](const std::string& other) {
      return problem_.reduced.contains(other);
    });
    return inside ? visits * kStateStep : 0;
  }

  // The extents of the access's variables that are bound, multiplied; no more than its entries.
  double prefix(const Access& access, const std::vector<std::string>& bound) const {
    double product = 1;
    std::set<std::string> seen;
    for (const std::string& index : access.indices) {
      if (!seen.insert(index).second) continue;
      for (const std::string& part : problem_.space.parts.at(index)) {
        if (position_of(bound, part) >= 0) product *= problem_.extents.at(part);
      }
    }
    return std::min(product, std::max(1.0, problem_.counts.at(access.tensor)));
  }

  double trips(const std::vector<std::string>& order, const std::string& var) const {
    std::vector<std::string> with = order;
    with.push_back(var);
    double least = std::numeric_limits<double>::infinity(), all = 0;
    const expr::Expr part = part_of(var);
    const auto vanishes_without = [&](const std::set<int>& ids) {
      return expr::is_zero(
          expr::without(part, [&](const Access& a) { return ids.contains(a.id); }));
    };
    std::set<int> walking;
    for (const Access* access : sparse_) {
      if (!walks(*access, var)) continue;
      const double here = prefix(*access, with) / prefix(*access, order);
      if (decisive_.contains(access->id) || vanishes_without({access->id}))
        least = std::min(least, here);
      all += here;
      walking.insert(access->id);
    }
    const double extent = problem_.extents.at(var);
    if (least < std::numeric_limits<double>::infinity()) return std::min(least, extent);
    if (walking.empty()) return extent;
    return vanishes_without(walking) ? std::min(all, extent) : extent;
  }

  // What the loop over a variable computes: the body of the reduction that binds it, or all.
  expr::Expr part_of(const std::string& var) const {
    const std::string& parent = problem_.space.variables.at(var).parent;
    const expr::Expr found = body_over(problem_.statement->value, parent.empty() ? var : parent);
    return found ? found : problem_.statement->value;
  }

  static expr::Expr body_over(const expr::Expr& expr, const std::string& index) {
    if (const auto* reduce = expr.as<expr::Reduce>()) {
      const auto& indices = reduce->indices;
      if (std::find(indices.begin(), indices.end(), index) != indices.end()) return reduce->body;
    }
    for (const expr::Expr& child : expr::children(expr)) {
      if (expr::Expr found = body_over(child, index)) return found;
    }
    return {};
  }

  // Whether the access stores the coordinates of the variable rather than counting through them.
  bool walks(const Access& access, const std::string& var) const {
    for (const Level& level : type_of(access.tensor).format.levels()) {
      if (!is_full(level.kind) && level_variable(level.expr, access.indices, problem_.space) == var)
        return true;
    }
    return false;
  }

  void finish(const std::vector<std::string>& order, double visits, double cost) {
    OrderChoice choice;
    choice.order = order;
    for (const Access* access : sparse_) {
      const Format& format = type_of(access->tensor).format;
      const bool native = is_native(format, access->indices, order, problem_.space);
      if (native && (format.is_ordered() || !problem_.may_convert)) continue;
      if (!problem_.may_convert) return;
      choice.converted.insert(access->id);
      cost += problem_.counts.at(access->tensor) * kSortedEntry;
    }
    choose_route(choice);
    const bool any_order = std::any_of(sparse_.begin(), sparse_.end(), [&](const Access* access) {
      return !type_of(access->tensor).format.is_ordered() && !choice.converted.contains(access->id);
    });
    if (any_order && choice.route != Route::Dense) choice.route = Route::Sort;
    choice.vectorized = is_contiguous(choice);
    const bool dense_innermost =
        !order.empty() && std::none_of(sparse_.begin(), sparse_.end(),
                                       [&](const Access* a) { return walks(*a, order.back()); });
    cost += visits * (choice.vectorized ? kVectorStep : dense_innermost ? kStridedStep : 1);
    if (choice.route == Route::Sort) cost += visits * kSortedEntry;
    if (choice.route == Route::Tracked) cost += visits * kTrackedStep;
    cost /= workers(order);
    choice.cost = cost;
    if (cost < best_.cost) best_ = choice;
  }

  void choose_route(OrderChoice& choice) const {
    const expr::Statement& statement = *problem_.statement;
    const Format& format = type_of(statement.tensor).format;
    if (format.is_dense()) {
      choice.route = Route::Dense;
      return;
    }
    if (const Access* owner = pattern_owner(choice)) {
      choice.route = Route::Shared;
      choice.shared = owner->tensor;
      return;
    }
    const auto first_reduced =
        std::find_if(choice.order.begin(), choice.order.end(),
                     [&](const std::string& v) { return problem_.reduced.contains(v); });
    const int reduced_at = static_cast<int>(first_reduced - choice.order.begin());
    int last_stored = -1;  // the last level that stores something
    for (int l = 0; l < format.level_count(); ++l) {
      if (!is_full(format.levels()[static_cast<size_t>(l)].kind)) last_stored = l;
    }
    bool in_order = true, before_sum = true, only_last_in_sum = true;
    int previous = -1;
    for (int l = 0; l < format.level_count(); ++l) {
      const Level& level = format.levels()[static_cast<size_t>(l)];
      const int at = place_of(choice.order, level.expr);
      if (at < 0) in_order = false;
      if (l <= last_stored) {
        if (at < previous) in_order = false;
        previous = std::max(previous, at);
        if (at > reduced_at) {
          before_sum = false;
          const bool whole = level.expr.is_whole() &&
                             !level_variable(level.expr, statement.indices, problem_.space).empty();
          if (l != last_stored || is_branchless(level.kind) || is_bounded(level.kind) || !whole)
            only_last_in_sum = false;
        }
      } else if (at < previous) {
        in_order = false;
      }
    }
    if (stores_below_full(format) && !copies_coordinates()) in_order = false;
    if (!in_order && !mutant("order-never-sorts")) {
      choice.route = Route::Sort;
    } else if (before_sum) {
      choice.route = Route::Append;
    } else if (only_last_in_sum && last_stored + 1 == format.level_count()) {
      choice.route = Route::Tracked;
    } else {
      choice.route = Route::Sort;
    }
  }

  // Which loop brings the coordinates of a level of the result in order; -1 if none does.
  int place_of(const std::vector<std::string>& order, const LevelExpr& level) const {
    const std::vector<std::string>& indices = problem_.statement->indices;
    const std::string var = level_variable(level, indices, problem_.space);
    if (!var.empty()) return position_of(order, var);
    // With what is subtracted bound outside, the difference ascends as the index does.
    const std::string& index = indices[static_cast<size_t>(level.dimension)];
    const std::string other = problem_.space.subtracted(index);
    if (!level.is_whole() || other.empty()) return -1;
    const int difference = position_of(order, problem_.space.parts.at(index)[0]);
    return position_of(order, other) < difference ? difference : -1;
  }

  // Whether a full level stands between two that store coordinates: its rows are written before it
  // is known whether the entry above exists.
  static bool stores_below_full(const Format& format) {
    bool stored = false, full = false;
    for (const Level& level : format.levels()) {
      if (full && !is_full(level.kind)) return true;
      stored = stored || !is_full(level.kind);
      full = stored && is_full(level.kind);
    }
    return false;
  }

  // Whether the statement copies entries whose coordinates are all stored: every one it comes to
  // exists.
  bool copies_coordinates() const {
    const auto* access = problem_.statement->value.as<Access>();
    if (!access) return false;
    const auto& levels = type_of(access->tensor).format.levels();
    return std::none_of(levels.begin(), levels.end(),
                        [](const Level& level) { return is_full(level.kind); });
  }

  // The operand whose entries are exactly the result's, stored alike.
  const Access* pattern_owner(const OrderChoice& choice) const {
    if (sparse_.size() != 1 ||
        (!decisive_.contains(sparse_[0]->id) && !mutant("pattern-shared-anyway")) ||
        choice.converted.contains(sparse_[0]->id)) {
      return nullptr;
    }
    const Access& access = *sparse_[0];
    const Format& from = type_of(access.tensor).format;
    const Format& to = type_of(problem_.statement->tensor).format;
    if (from.level_count() != to.level_count() || !from.is_unique() || !from.is_ordered())
      return nullptr;
    if (type_of(access.tensor).index_type != type_of(problem_.statement->tensor).index_type)
      return nullptr;
    const std::set<std::string> different(access.indices.begin(), access.indices.end());
    if (different.size() != access.indices.size() || !is_operand_name(access.tensor))
      return nullptr;
    for (size_t l = 0; l < from.levels().size(); ++l) {
      const Level &a = from.levels()[l], &b = to.levels()[l];
      // The same but for which dimension of the tensor has which index.
      const auto same_index = [&](int first, int second) {
        return (first < 0 && second < 0) ||
               (first >= 0 && second >= 0 &&
                access.indices[static_cast<size_t>(first)] ==
                    problem_.statement->indices[static_cast<size_t>(second)]);
      };
      Level moved = a;
      moved.expr.dimension = b.expr.dimension;
      moved.expr.second = b.expr.second;
      if (moved != b || !same_index(a.expr.dimension, b.expr.dimension) ||
          !same_index(a.expr.second, b.expr.second)) {
        return nullptr;
      }
    }
    // A sum over a further variable must not come between the entry's loops.
    return &access;
  }

  bool is_operand_name(const std::string& tensor) const {
    return problem_.shareable.contains(tensor);
  }

  // Whether the innermost loop counts through neighbouring elements of everything that it indexes.
  bool is_contiguous(const OrderChoice& choice) const {
    if (choice.order.empty()) return false;
    const std::string& var = choice.order.back();
    const bool is_slanted = std::any_of(
        problem_.space.variables.begin(), problem_.space.variables.end(), [&](const auto& entry) {
          return entry.second.origin == nest::Variable::Origin::Difference &&
                 (entry.first == var || entry.second.second == var);
        });
    if (is_slanted) return false;
    bool used = false;
    auto fits = [&](const Format& format, const std::vector<std::string>& indices) {
      for (int l = 0; l < format.level_count(); ++l) {
        const Level& level = format.levels()[static_cast<size_t>(l)];
        const std::string at = level_variable(level.expr, indices, problem_.space);
        const std::string& index = indices[static_cast<size_t>(level.expr.dimension)];
        const auto& parts = problem_.space.parts.at(index);
        const bool touches =
            at == var || (at.empty() && std::find(parts.begin(), parts.end(), var) != parts.end());
        if (!touches) continue;
        used = true;
        if (!is_full(level.kind) || l + 1 != format.level_count()) return false;
        if (at.empty() && parts.back() != var) return false;
      }
      return true;
    };
    for (const Access* access : accesses_) {
      if (!fits(type_of(access->tensor).format, access->indices)) return false;
    }
    const Format& result = type_of(problem_.statement->tensor).format;
    const bool in_result = !problem_.reduced.contains(var) && position_of(problem_.inner, var) < 0;
    if (in_result && choice.route != Route::Dense && choice.route != Route::Shared) {
      // Trailing dense levels of an appended result are contiguous too.
      if (choice.route != Route::Append) return false;
    }
    if (in_result && !fits(result, problem_.statement->indices)) return false;
    return used;
  }

  const OrderProblem& problem_;
  std::vector<const Access*> accesses_;
  std::vector<const Access*> sparse_;
  std::vector<std::string> outer_;  // the problem's, in the order in which they are tried
  int beginnings_ = 0;
  std::set<int> decisive_;  // accesses without which the statement vanishes
  OrderChoice best_;
};

}  // namespace

std::string_view text_of(Route route) {
  constexpr std::string_view names[] = {"dense", "shared pattern", "appended in order",
                                        "rows through a workspace", "sorted afterwards"};
  return names[static_cast<int>(route)];
}

bool is_native(const Format& format, const std::vector<std::string>& indices,
               const std::vector<std::string>& order, const LoopSpace& space) {
  if (format.is_dense()) return true;
  int latest = -1;
  for (const Level& level : format.levels()) {
    const std::string var = level_variable(level.expr, indices, space);
    if (is_full(level.kind)) {
      if (var.empty()) {
        const std::string& index = indices[static_cast<size_t>(level.expr.dimension)];
        for (const std::string& part : space.parts.at(index)) {
          latest = std::max(latest, position_of(order, part));
        }
        latest = std::max(latest, position_of(order, space.subtracted(index)));
      } else {
        latest = std::max(latest, position_of(order, var));
      }
      continue;
    }
    if (var.empty()) return false;
    const int at = position_of(order, var);
    if (!stores_coordinates(level.kind)) {
      // Found by arithmetic, whatever comes first.
      latest = std::max(latest, at);
      continue;
    }
    if (at < latest) return false;
    latest = at;
  }
  return true;
}

OrderChoice choose_order(const OrderProblem& problem) { return Search(problem).run(); }

OrderChoice evaluate_order(const OrderProblem& problem, const std::vector<std::string>& order) {
  return Search(problem).evaluate(order);
}

double estimate_trips(const OrderProblem& problem, const std::vector<std::string>& outside,
                      const std::string& var) {
  return Search(problem).trips(outside, var);
}

}  // namespace tulle::plan
