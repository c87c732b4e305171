// Formats: checks of levels, printing, families of any rank.
#include "format/format.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <set>

#include "format/names.h"
#include "support/check.h"

namespace tulle {

namespace {

std::string text_of(const LevelExpr& expr, const std::vector<std::string>& names) {
  const std::string& name = names[static_cast<size_t>(expr.dimension)];
  switch (expr.part) {
    case LevelExpr::Part::Whole:
      return name;
    case LevelExpr::Part::Quotient:
      return concat(name, "/", expr.divisor);
    case LevelExpr::Part::Remainder:
      return concat(name, "%", expr.divisor);
    case LevelExpr::Part::Difference:
      return concat(name, "-", names[static_cast<size_t>(expr.second)]);
  }
  internal_error("unknown part of a dimension");
}

std::string text_of(const Level& level, const std::vector<std::string>& names) {
  return concat(text_of(level.expr, names), ": ", text_of(level.kind),
                has_width(level.kind) ? concat("(", level.width, ")") : "",
                level.unique ? "" : " nonunique", level.ordered ? "" : " unordered",
                level.multiple > 1 ? concat(" multiple(", level.multiple, ")") : "");
}

void check_names(const std::vector<std::string>& names) {
  std::set<std::string> seen;
  for (const std::string& name : names) {
    if (name.empty()) user_error("A dimension of a format needs a name.");
    if (!seen.insert(name).second) user_error("A format names its dimension '", name, "' twice.");
  }
}

// The dimension is stored whole, as a quotient and further in a remainder by the same divisor, or
// as the difference to a dimension stored whole.
void check_dimension(int dimension, const std::string& name, const std::vector<Level>& levels) {
  std::vector<LevelExpr> parts;
  for (const Level& level : levels) {
    if (level.expr.dimension == dimension) parts.push_back(level.expr);
  }
  if (parts.empty()) {
    user_error("The dimension '", name, "' has no level; add one, for example ", name, ": dense.");
  }
  using Part = LevelExpr::Part;
  const bool whole = parts.size() == 1 && parts[0].part == Part::Whole;
  const bool difference = parts.size() == 1 && parts[0].part == Part::Difference;
  const bool blocked = parts.size() == 2 && parts[0].part == Part::Quotient &&
                       parts[1].part == Part::Remainder && parts[0].divisor == parts[1].divisor;
  if (!whole && !blocked && !difference) {
    user_error("The levels must store the dimension '", name, "' exactly once: as ", name, ", as ",
               name, "/b with a level ", name, "%b of the same b further in, or as the ",
               "difference to a dimension that another level stores whole, i-j.");
  }
}

void check_difference(const Level& level, const std::vector<Level>& levels,
                      const std::vector<std::string>& names) {
  if (!stores_coordinates(level.kind) || level.has_unused()) {
    user_error("The level '", text_of(level, names),
               "' stores differences, which may be negative; make it compressed.");
  }
  const bool held = std::any_of(levels.begin(), levels.end(), [&](const Level& other) {
    return other.expr.dimension == level.expr.second && other.expr.is_whole();
  });
  if (!held || level.expr.second == level.expr.dimension) {
    user_error("The level '", text_of(level, names), "' needs another level that stores '",
               names[static_cast<size_t>(level.expr.second)], "' whole.");
  }
}

// Whether the slots of the levels so far have pairwise different coordinates. Where each slot has
// exactly one slot below, a unique level separates slots with equal coordinates above it, but only
// slots under the same slot of the previous levels.
class Uniqueness {
 public:
  void add(const Level& level) {
    if (!is_branchless(level.kind)) above_ = all_;
    all_ = above_ && level.unique;
  }
  bool all() const { return all_; }

 private:
  bool all_ = true, above_ = true;
};

// Checks the neighbours of a level whose slots may hold no entry.
void check_gaps(const std::vector<Level>& levels, size_t at,
                const std::vector<std::string>& names) {
  const Level& level = levels[at];
  const bool direct = is_direct(level.kind);
  if (at == 0 && !stores_coordinates(level.kind) && !direct) {
    user_error("The level '", text_of(level, names),
               "' cannot be the first level: its slots are rows of a level above it.");
  }
  if (at == 0 && has_width(level.kind)) {
    user_error("The level '", text_of(level, names),
               "' cannot be the first level: it has slots for each slot of a level above it.");
  }
  for (size_t below = at + 1; below < levels.size(); ++below) {
    if (is_full(levels[below].kind)) continue;
    user_error("The level '", text_of(levels[below], names), "' is below '", text_of(level, names),
               "', some slots of which hold no entry; only ", text_of_kinds(is_full, "and"),
               " levels can be there.");
  }
  Uniqueness slots;
  for (size_t above = 0; above < at; ++above) slots.add(levels[above]);
  if (!slots.all()) {
    user_error("The level '", text_of(level, names),
               "' is below levels that may store a coordinate several times; make them unique.");
  }
  if (!is_bounded(level.kind)) return;
  const bool bounded = std::any_of(
      levels.begin(), levels.begin() + static_cast<int64_t>(at), [&](const Level& above) {
        return above.expr.is_difference() && above.expr.second == level.expr.dimension;
      });
  if (!bounded || !level.expr.is_whole()) {
    user_error("The level '", text_of(level, names),
               "' takes its bounds from a difference level above it; write, for example, "
               "(i,j) -> (j-i: compressed, i: range).");
  }
}

void check_level(const std::vector<Level>& levels, size_t at,
                 const std::vector<std::string>& names) {
  const Level& level = levels[at];
  if (!stores_coordinates(level.kind) && (!level.unique || !level.ordered)) {
    user_error("The level '", text_of(level, names), "' stores each coordinate once and in order; ",
               "remove 'nonunique' and 'unordered'.");
  }
  if (level.multiple > 1 && !(stores_positions(level.kind) && stores_coordinates(level.kind))) {
    user_error("The level '", text_of(level, names),
               "' has no segments to round up; use multiple(g) with compressed levels.");
  }
  if (level.has_gaps()) check_gaps(levels, at, names);
  if (level.expr.is_difference()) check_difference(level, levels, names);
  if (is_branchless(level.kind) && (at == 0 || !fills_slots(levels[at - 1].kind))) {
    user_error(
        "The level '", text_of(level, names), "' needs a ", text_of_kinds(fills_slots, "or"),
        " level directly above it: it stores one coordinate for each coordinate of that level.");
  }
  if (is_branchless(level.kind) && stores_coordinates(levels[at - 1].kind) &&
      levels[at - 1].unique) {
    user_error("The level '", text_of(level, names), "' is below '", text_of(levels[at - 1], names),
               "', which stores each coordinate once, so each could hold one entry only; add ",
               "'nonunique' to that level.");
  }
}

std::vector<int> identity(int rank) {
  std::vector<int> order(static_cast<size_t>(rank));
  std::iota(order.begin(), order.end(), 0);
  return order;
}

constexpr int64_t kLargestBlock = std::numeric_limits<int32_t>::max();

void check_blocks(const std::vector<Level>& levels) {
  int64_t elements = 1;
  for (const Level& level : levels) {
    if (level.expr.part != LevelExpr::Part::Remainder) continue;
    if (level.expr.divisor > kLargestBlock / elements) {
      user_error("A block of the format has more than ", kLargestBlock,
                 " elements; make it smaller.");
    }
    elements *= level.expr.divisor;
  }
}

}  // namespace

Format::Format(std::vector<std::string> dimension_names, std::vector<Level> levels)
    : dimension_names_(std::move(dimension_names)), levels_(std::move(levels)) {
  check_names(dimension_names_);
  for (size_t at = 0; at < levels_.size(); ++at) {
    const LevelExpr& expr = levels_[at].expr;
    TULLE_CHECK(expr.dimension >= 0 && expr.dimension < rank(), "dimension ", expr.dimension);
    TULLE_CHECK(!expr.is_difference() || (expr.second >= 0 && expr.second < rank()));
    if (expr.divisor < 1) {
      user_error("The level '", text_of(expr, dimension_names_),
                 "' needs a divisor of at least 1.");
    }
    check_level(levels_, at, dimension_names_);
  }
  for (int d = 0; d < rank(); ++d) {
    check_dimension(d, dimension_names_[static_cast<size_t>(d)], levels_);
  }
  check_blocks(levels_);
}

Format Format::dense(int rank) {
  std::vector<Level> levels;
  for (const int d : identity(rank)) levels.push_back({.expr = {.dimension = d}});
  return {default_dimension_names(rank), std::move(levels)};
}

Format Format::coo(int rank, const std::vector<int>& order) {
  std::vector<Level> levels;
  for (const int d : order.empty() ? identity(rank) : order) {
    const bool first = levels.empty();
    const bool last = static_cast<int>(levels.size()) + 1 == rank;
    levels.push_back({.expr = {.dimension = d},
                      .kind = first ? LevelKind::Compressed : LevelKind::Singleton,
                      .unique = last});
  }
  return {default_dimension_names(rank), std::move(levels)};
}

Format Format::csf(int rank, const std::vector<int>& order, bool dense_first) {
  std::vector<Level> levels;
  for (const int d : order.empty() ? identity(rank) : order) {
    const bool dense = levels.empty() && dense_first;
    levels.push_back(
        {.expr = {.dimension = d}, .kind = dense ? LevelKind::Dense : LevelKind::Compressed});
  }
  return {default_dimension_names(rank), std::move(levels)};
}

bool Format::is_dense() const {
  return std::all_of(levels_.begin(), levels_.end(),
                     [](const Level& level) { return is_full(level.kind); });
}

bool Format::has_blocks() const {
  return std::any_of(levels_.begin(), levels_.end(), [](const Level& level) {
    return !level.expr.is_whole() && !level.expr.is_difference();
  });
}

bool Format::has_differences() const {
  return std::any_of(levels_.begin(), levels_.end(),
                     [](const Level& level) { return level.expr.is_difference(); });
}

bool Format::has_gaps() const {
  return std::any_of(levels_.begin(), levels_.end(),
                     [](const Level& level) { return level.has_gaps(); });
}

bool Format::is_ordered() const {
  return std::all_of(levels_.begin(), levels_.end(),
                     [](const Level& level) { return level.ordered; });
}

bool Format::is_unique() const {
  Uniqueness slots;
  for (const Level& level : levels_) slots.add(level);
  return slots.all();
}

bool Format::repeats_above_full() const {
  Uniqueness slots;
  for (const Level& level : levels_) {
    if (is_full(level.kind) && !slots.all()) return true;
    slots.add(level);
  }
  return false;
}

std::string Format::to_string() const {
  std::string text = "(";
  for (const std::string& name : dimension_names_) text += (text.size() > 1 ? "," : "") + name;
  text += ") -> (";
  for (size_t at = 0; at < levels_.size(); ++at) {
    text += (at > 0 ? ", " : "") + text_of(levels_[at], dimension_names_);
  }
  return text + ")";
}

std::string Format::name() const { return name_of(*this).value_or(to_string()); }

Format Format::permuted(const std::vector<int>& order) const {
  TULLE_CHECK(order.size() == dimension_names_.size());
  std::vector<std::string> names;
  std::vector<int> dimension_now(order.size(), -1);
  for (size_t d = 0; d < order.size(); ++d) {
    names.push_back(dimension_names_.at(static_cast<size_t>(order[d])));
    dimension_now[static_cast<size_t>(order[d])] = static_cast<int>(d);
  }
  std::vector<Level> levels = levels_;
  for (Level& level : levels) {
    level.expr.dimension = dimension_now[static_cast<size_t>(level.expr.dimension)];
    if (level.expr.is_difference()) {
      level.expr.second = dimension_now[static_cast<size_t>(level.expr.second)];
    }
  }
  return {std::move(names), std::move(levels)};
}

}  // namespace tulle
