// Splits indices by the blocks of the operands.
#include "plan/order/loop_space.h"

#include <algorithm>
#include <functional>

#include "expr/absence.h"
#include "expr/walk.h"
#include "nest/loop_names.h"

namespace tulle::plan {

namespace {

// The loop that an operand's level needs for an index: whole, divided by a block size, or a
// difference.
struct Wish {
  int64_t divisor = 0;     // 0: not divided
  std::string subtracted;  // empty: no difference
  bool operator==(const Wish&) const = default;
};

// The wishes of a tensor's levels for each of its indices. If two levels of one index differ, the
// wish is a whole index.
std::map<std::string, Wish> wishes(const Format& format, const std::vector<std::string>& indices) {
  std::map<std::string, Wish> found;
  for (const Level& level : format.levels()) {
    const std::string& index = indices[static_cast<size_t>(level.expr.dimension)];
    Wish wish;
    if (level.expr.is_difference()) {
      // If one index has several dimensions, the first one binds it, not a difference.
      if (std::count(indices.begin(), indices.end(), index) == 1)
        wish.subtracted = indices[static_cast<size_t>(level.expr.second)];
    } else if (!level.expr.is_whole()) {
      wish.divisor = level.expr.divisor;
    } else if (is_full(level.kind)) {
      continue;
    }
    const auto known = found.try_emplace(index, wish).first;
    if (known->second != wish) known->second = {};
  }
  return found;
}

// Whether the statement can use loops over differences. These only visit stored diagonals, so the
// statement must be 0 where the operands stored by a difference have no entries. All loops must
// surround one assignment, so that both the difference and its second index are bound there.
bool may_loop_over_differences(const expr::Statement& statement,
                               const std::map<std::string, expr::TensorType>& tensors) {
  const auto* sum = statement.value.as<expr::Reduce>();
  if (expr::has_reduction(sum ? sum->body : statement.value)) return false;
  std::map<std::pair<std::string, std::string>, std::set<int>> stored_by;  // ids of accesses
  for (const expr::Access* access : expr::accesses(statement.value)) {
    for (const auto& [index, wish] : wishes(tensors.at(access->tensor).format, access->indices)) {
      if (!wish.subtracted.empty()) stored_by[{index, wish.subtracted}].insert(access->id);
    }
  }
  return std::all_of(stored_by.begin(), stored_by.end(), [&](const auto& difference) {
    return expr::is_zero(expr::without(statement.value, [&](const expr::Access& access) {
      return difference.second.contains(access.id);
    }));
  });
}

}  // namespace

std::string LoopSpace::subtracted(const std::string& index) const {
  const std::vector<std::string>& names = parts.at(index);
  const nest::Variable& variable = variables.at(names[0]);
  return names.size() == 1 && variable.origin == nest::Variable::Origin::Difference
             ? variable.second
             : std::string();
}

bool LoopSpace::is_whole() const {
  return std::all_of(parts.begin(), parts.end(), [](const auto& entry) {
    return entry.second.size() == 1 && entry.second[0] == entry.first;
  });
}

LoopSpace make_loop_space(const expr::Statement& statement,
                          const std::map<std::string, expr::TensorType>& tensors,
                          Division division) {
  LoopSpace space;
  std::map<std::string, Wish> agreed;
  std::set<std::string> subtracted;  // all indices that some difference subtracts
  auto collect = [&](const expr::Access& access) {
    const auto wanted = wishes(tensors.at(access.tensor).format, access.indices);
    const bool agrees = std::all_of(wanted.begin(), wanted.end(), [&](const auto& entry) {
      const auto found = agreed.find(entry.first);
      if (found != agreed.end()) return found->second == entry.second;
      const std::string& other = entry.second.subtracted;
      if (other.empty()) return entry.second == Wish() || !subtracted.contains(entry.first);
      // The subtracted index needs a loop of its own.
      const auto known = agreed.find(other);
      return other != entry.first && !subtracted.contains(entry.first) &&
             (known == agreed.end() || known->second == Wish());
    });
    if (!agrees) return;
    agreed.insert(wanted.begin(), wanted.end());
    for (const auto& [index, wish] : wanted) {
      if (wish.subtracted.empty()) continue;
      subtracted.insert(wish.subtracted);
      agreed.insert({wish.subtracted, Wish()});
    }
  };
  const auto operands = expr::accesses(statement.value);
  bool differences = may_loop_over_differences(statement, tensors);
  // Another sparse operand with such an index must store the same differences.
  for (const expr::Access* access : operands) {
    const Format& format = tensors.at(access->tensor).format;
    if (!format.has_differences()) continue;
    const auto wanted = wishes(format, access->indices);
    for (const expr::Access* other : operands) {
      const Format& other_format = tensors.at(other->tensor).format;
      if (other_format.is_dense()) continue;
      const auto others = wishes(other_format, other->indices);
      for (const auto& [index, wish] : wanted) {
        const bool uses =
            std::find(other->indices.begin(), other->indices.end(), index) != other->indices.end();
        const auto found = others.find(index);
        if (!wish.subtracted.empty() && uses && (found == others.end() || found->second != wish))
          differences = false;
      }
    }
  }
  // Tensors with whole indices can be walked over as stored, so they take precedence over blocks,
  // unless `blocks_first` reverses this.
  const bool blocks_first = division == Division::ByBlocks;
  for (const bool plain : {!blocks_first, blocks_first}) {
    if (!plain && division == Division::None) continue;
    for (const expr::Access* access : operands) {
      const Format& format = tensors.at(access->tensor).format;
      if (format.is_dense() || (format.has_differences() && !differences)) continue;
      if (plain == (!format.has_blocks() && !format.has_differences())) collect(*access);
    }
  }
  auto add_index = [&](const std::string& index) {
    if (space.parts.contains(index)) return;
    space.variables[index] = {};
    const auto found = agreed.find(index);
    if (found == agreed.end() || found->second == Wish()) {
      space.parts[index] = {index};
      return;
    }
    const auto& [divisor, other] = found->second;
    if (!other.empty()) {
      const std::string name = nest::difference_loop(index, other);
      space.variables[name] = {nest::Variable::Origin::Difference, index, other};
      space.parts[index] = {name};
      return;
    }
    const std::string outer = nest::outer_loop(index), inner = nest::inner_loop(index);
    space.variables[outer] = {nest::Variable::Origin::Outer, index, {}, divisor};
    space.variables[inner] = {nest::Variable::Origin::Inner, index, {}, divisor};
    space.parts[index] = {outer, inner};
  };
  for (const std::string& index : statement.indices) add_index(index);
  for (const expr::Access* access : operands) {
    for (const std::string& index : access->indices) add_index(index);
  }
  // If no access in this statement has the index, another statement determines its extent.
  const std::function<void(const expr::Expr&)> add_reduced = [&](const expr::Expr& expr) {
    if (const auto* reduce = expr.as<expr::Reduce>())
      std::for_each(reduce->indices.begin(), reduce->indices.end(), add_index);
    for (const expr::Expr& child : expr::children(expr)) add_reduced(child);
  };
  add_reduced(statement.value);
  return space;
}

std::string level_variable(const LevelExpr& level, const std::vector<std::string>& indices,
                           const LoopSpace& space) {
  const std::string& index = indices[static_cast<size_t>(level.dimension)];
  const std::vector<std::string>& parts = space.parts.at(index);
  if (!level.is_difference() && !level.is_whole()) {
    if (parts.size() != 2 || space.variables.at(parts[0]).factor != level.divisor) return {};
    return level.part == LevelExpr::Part::Quotient ? parts[0] : parts[1];
  }
  const std::string other = space.subtracted(index);
  if (level.is_whole()) return parts.size() == 1 && other.empty() ? parts[0] : std::string();
  return !other.empty() && other == indices[static_cast<size_t>(level.second)] ? parts[0]
                                                                               : std::string();
}

}  // namespace tulle::plan
