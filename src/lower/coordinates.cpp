// Index arithmetic over split and fused variables.
#include "lower/coordinates.h"

#include "lower/storage.h"
#include "support/check.h"
#include "support/mutant.h"

namespace tulle::lower {

using loop::Binary;
using loop::BinaryOp;
using loop::Expr;
using loop::IntConst;
using nest::Variable;

Expr Coordinates::extent(const std::string& var) const {
  if (const auto known = nest_.known_extent(var)) return IntConst::make(*known);
  const Variable& v = nest_.variable(var);
  switch (v.origin) {
    case Variable::Origin::Source:
      return loop::Var::make(extent_name(var));
    case Variable::Origin::Outer:
    case Variable::Origin::OuterPosition:  // at most
      return loop::ceil_divide(extent(v.parent), v.factor);
    case Variable::Origin::Inner:
    case Variable::Origin::InnerPosition:
    case Variable::Origin::Entry:
      return IntConst::make(v.factor);
    case Variable::Origin::Stored:
      return loop::Var::make(stored_name(v.tensor));
    case Variable::Origin::EntryChunk:
      return loop::ceil_divide(loop::Var::make(count_name(v.tensor)), v.factor);
    case Variable::Origin::Chunk:
      if (v.parts > 0) return IntConst::make(v.parts);
      return loop::ceil_divide(work(v), v.factor);
    case Variable::Origin::ChunkRow:
      return extent(v.parent);
    case Variable::Origin::Fused:
      return extent(v.parent) * extent(v.second);
    case Variable::Origin::Difference:
      return extent(v.parent) + extent(v.second) - 1;
  }
  internal_error("the extent of ", var);
}

Expr Coordinates::work(const Variable& chunks) const {
  return extent(chunks.parent) + loop::Var::make(count_name(chunks.tensor));
}

Expr Coordinates::chunk_length(const Variable& chunks) const {
  const Expr least = IntConst::make(chunks.factor);
  if (chunks.dealt > 0) return least;
  return chunks.parts > 0 ? loop::maximum(least, loop::ceil_divide(work(chunks), chunks.parts))
                          : least;
}

Expr Coordinates::first(const std::string& var) const {
  const Variable& v = nest_.variable(var);
  if (v.origin != Variable::Origin::Difference) return IntConst::make(0);
  return IntConst::make(1) - extent(v.second);
}

Expr Coordinates::runs(const nest::Stmt& stmt) const {
  Expr condition = IntConst::make(1, loop::kBool);
  auto require = [&](const Expr& other) {
    const auto* constant = other.as<IntConst>();
    if (!constant || constant->value == 0)
      condition = constant ? other : loop::both(condition, other);
  };
  if (const auto* forall = stmt.as<nest::Forall>()) {
    const Expr size = extent(forall->var);
    const auto* known = size.as<IntConst>();
    require(known ? Expr(IntConst::make(known->value > 0 ? 1 : 0, loop::kBool))
                  : IntConst::make(0) < size);
    require(runs(forall->body));
  } else if (const auto* sequence = stmt.as<nest::Sequence>()) {
    for (const nest::Stmt& part : sequence->stmts) require(runs(part));
  } else if (const auto* where = stmt.as<nest::Where>()) {
    require(runs(where->consumer));
  }
  return condition;
}

Expr Coordinates::loop_end(const std::string& var, const BoundCoordinates& bound,
                           const std::set<std::string>& padded) const {
  if (padded.contains(var) || mutant("split-unbounded")) return extent(var);
  const Variable& v = nest_.variable(var);
  const bool is_outer = v.origin == Variable::Origin::Outer;
  if (!is_outer && v.origin != Variable::Origin::Inner) return extent(var);
  // The parent may itself be a part that ends early.
  const Expr whole = loop_end(v.parent, bound, padded);
  const auto* known = whole.as<IntConst>();
  const bool divides = known && known->value % v.factor == 0;
  if (divides && is_outer) return IntConst::make(known->value / v.factor);
  if (divides && known->value == 0) return whole;
  // Loops that are fused or bound run over all parts, also past the end of the parent.
  const Expr most = extent(v.parent);
  const auto* all = most.as<IntConst>();
  if (divides && all && (all->value == known->value || mutant("bound-through-fused")))
    return extent(var);
  for (const auto& [name, other] : nest_.variables) {
    const auto wanted = is_outer ? Variable::Origin::Inner : Variable::Origin::Outer;
    if (other.parent != v.parent || other.origin != wanted || other.factor != v.factor) continue;
    const Expr found = coordinate(name, bound);
    if (!found) continue;
    if (is_outer)
      return loop::ceil_divide(loop::maximum(whole - found, IntConst::make(0)), v.factor);
    return loop::minimum(extent(var), whole - found * v.factor);
  }
  return extent(var);
}

std::optional<std::pair<std::string, std::string>> Coordinates::bound_split(
    const std::string& parent, int64_t factor, const BoundCoordinates& bound) const {
  for (const auto& [outer, v] : nest_.variables) {
    if (v.origin != Variable::Origin::Outer || v.parent != parent ||
        (factor != 0 && v.factor != factor))
      continue;
    for (const auto& [inner, w] : nest_.variables) {
      if (w.origin != Variable::Origin::Inner || w.parent != parent || w.factor != v.factor)
        continue;
      if (coordinate(outer, bound) && coordinate(inner, bound)) return std::pair(outer, inner);
    }
  }
  return std::nullopt;
}

Expr Coordinates::rebuilt(const std::string& var, const BoundCoordinates& bound) const {
  if (const Expr known = coordinate(var, bound)) return known;
  const Variable& own = nest_.variable(var);
  if (own.origin == Variable::Origin::Fused) {
    const Expr first = rebuilt(own.parent, bound), second = rebuilt(own.second, bound);
    return first && second ? first * extent(own.second) + second : Expr();
  }
  const bool outer = own.origin == Variable::Origin::Outer;
  if (!outer && own.origin != Variable::Origin::Inner) return {};
  const Expr parent = rebuilt(own.parent, bound);
  if (!parent) return {};
  return Binary::make(outer ? BinaryOp::Div : BinaryOp::Mod, parent, IntConst::make(own.factor));
}

Expr Coordinates::coordinate(const std::string& var, const BoundCoordinates& bound) const {
  const auto found = bound.find(var);
  if (found != bound.end()) return found->second;
  if (const auto split = bound_split(var, 0, bound)) {
    const int64_t factor = nest_.variable(split->first).factor;
    return coordinate(split->first, bound) * factor + coordinate(split->second, bound);
  }
  for (const auto& [name, v] : nest_.variables) {
    if (v.origin != Variable::Origin::ChunkRow || v.parent != var) continue;
    if (const auto row = bound.find(name); row != bound.end()) return row->second;
  }
  for (const auto& [name, v] : nest_.variables) {
    if (v.origin != Variable::Origin::Difference || v.parent != var) continue;
    const Expr difference = coordinate(name, bound), second = coordinate(v.second, bound);
    if (difference && second) return difference + second;
  }
  for (const auto& [name, v] : nest_.variables) {
    if (v.origin != Variable::Origin::Fused || (v.parent != var && v.second != var)) continue;
    if (const Expr fused = coordinate(name, bound)) {
      const std::string& width = mutant("fuse-wrong-extent") ? v.parent : v.second;
      return Binary::make(v.parent == var ? BinaryOp::Div : BinaryOp::Mod, fused, extent(width));
    }
  }
  return {};
}

Expr Coordinates::level_coordinate(const LevelExpr& level, const std::vector<std::string>& indices,
                                   const BoundCoordinates& bound) const {
  const std::string& index = indices[static_cast<size_t>(level.dimension)];
  if (level.is_whole()) return coordinate(index, bound);
  for (const auto& [name, v] : nest_.variables) {
    if (!is_level_variable(level, indices, name)) continue;
    if (const Expr found = coordinate(name, bound)) return found;
  }
  const Expr whole = coordinate(index, bound);
  if (!whole) return {};
  if (level.is_difference()) {
    const Expr second = coordinate(indices[static_cast<size_t>(level.second)], bound);
    return second ? whole - second : Expr();
  }
  const bool quotient = level.part == LevelExpr::Part::Quotient;
  return Binary::make(quotient ? BinaryOp::Div : BinaryOp::Mod, whole,
                      IntConst::make(level.divisor));
}

Expr Coordinates::level_extent(const LevelExpr& level,
                               const std::vector<std::string>& indices) const {
  const std::string& index = indices[static_cast<size_t>(level.dimension)];
  switch (level.part) {
    case LevelExpr::Part::Whole:
      return extent(index);
    case LevelExpr::Part::Quotient:
      return loop::ceil_divide(extent(index), level.divisor);
    case LevelExpr::Part::Remainder:
      return IntConst::make(level.divisor);
    case LevelExpr::Part::Difference:
      return extent(index) + extent(indices[static_cast<size_t>(level.second)]) - 1;
  }
  internal_error("the extent of a level of ", index);
}

bool Coordinates::is_level_variable(const LevelExpr& level, const std::vector<std::string>& indices,
                                    const std::string& var) const {
  const std::string& index = indices[static_cast<size_t>(level.dimension)];
  const Variable& v = nest_.variable(var);
  switch (level.part) {
    case LevelExpr::Part::Whole:
      return var == index;
    case LevelExpr::Part::Quotient:
      return v.origin == Variable::Origin::Outer && v.parent == index && v.factor == level.divisor;
    case LevelExpr::Part::Remainder:
      return v.origin == Variable::Origin::Inner && v.parent == index && v.factor == level.divisor;
    case LevelExpr::Part::Difference:
      return v.origin == Variable::Origin::Difference && v.parent == index &&
             v.second == indices[static_cast<size_t>(level.second)];
  }
  return false;
}

}  // namespace tulle::lower
