// Splits indices by the blocks of the operands.
#include "plan/order/loop_space.h"

#include <algorithm>

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

namespace {

class LoopSpaceBuilder {
 public:
  LoopSpaceBuilder(const expr::Statement& statement,
                   const std::map<std::string, expr::TensorType>& tensors)
      : statement_(statement),
        tensors_(tensors),
        operands_(expr::accesses(statement.value)),
        has_differences_(may_loop_over_differences(statement, tensors) && do_differences_agree()) {}

  LoopSpace build(Division division) {
    // Tensors with whole indices can be walked over as stored, so they take precedence over blocks,
    // unless `blocks_first` reverses this.
    const bool blocks_first = division == Division::ByBlocks;
    for (const bool plain : {!blocks_first, blocks_first}) {
      if (plain || division != Division::None) grant_wishes(plain);
    }
    for (const std::string& index : statement_.indices) add_index(index);
    for (const expr::Access* access : operands_) {
      for (const std::string& index : access->indices) add_index(index);
    }
    // If no access in this statement has the index, another statement determines its extent.
    add_reduced(statement_.value);
    return std::move(space_);
  }

 private:
  // Whether other sparse operands with an index of a difference store the same difference.
  bool do_differences_agree() const {
    return std::all_of(operands_.begin(), operands_.end(), [&](const expr::Access* access) {
      const Format& format = tensors_.at(access->tensor).format;
      if (!format.has_differences()) return true;
      const auto wanted = wishes(format, access->indices);
      return std::all_of(operands_.begin(), operands_.end(), [&](const expr::Access* other) {
        return stores_differences_of(wanted, *other);
      });
    });
  }

  bool stores_differences_of(const std::map<std::string, Wish>& wanted,
                             const expr::Access& other) const {
    const Format& format = tensors_.at(other.tensor).format;
    if (format.is_dense()) return true;
    const auto others = wishes(format, other.indices);
    return std::all_of(wanted.begin(), wanted.end(), [&](const auto& entry) {
      const auto& [index, wish] = entry;
      if (wish.subtracted.empty() ||
          std::find(other.indices.begin(), other.indices.end(), index) == other.indices.end())
        return true;
      const auto found = others.find(index);
      return found != others.end() && found->second == wish;
    });
  }

  // Grants the wishes of the sparse operands with whole indices, or those of all others.
  void grant_wishes(bool plain) {
    for (const expr::Access* access : operands_) {
      const Format& format = tensors_.at(access->tensor).format;
      if (format.is_dense() || (format.has_differences() && !has_differences_)) continue;
      if (plain == (!format.has_blocks() && !format.has_differences()))
        grant(wishes(format, access->indices));
    }
  }

  // Grants the wishes of an operand, if all of them agree with those granted before.
  void grant(const std::map<std::string, Wish>& wanted) {
    if (!std::all_of(wanted.begin(), wanted.end(),
                     [&](const auto& entry) { return agrees(entry.first, entry.second); }))
      return;
    agreed_.insert(wanted.begin(), wanted.end());
    for (const auto& [index, wish] : wanted) {
      if (wish.subtracted.empty()) continue;
      subtracted_.insert(wish.subtracted);
      agreed_.insert({wish.subtracted, Wish()});
    }
  }

  bool agrees(const std::string& index, const Wish& wish) const {
    const auto found = agreed_.find(index);
    if (found != agreed_.end()) return found->second == wish;
    const std::string& other = wish.subtracted;
    if (other.empty()) return wish == Wish() || !subtracted_.contains(index);
    // The subtracted index needs a loop of its own.
    const auto known = agreed_.find(other);
    return other != index && !subtracted_.contains(index) &&
           (known == agreed_.end() || known->second == Wish());
  }

  void add_index(const std::string& index) {
    if (space_.parts.contains(index)) return;
    space_.variables[index] = {};
    const auto found = agreed_.find(index);
    if (found == agreed_.end() || found->second == Wish()) {
      space_.parts[index] = {index};
      return;
    }
    const auto& [divisor, other] = found->second;
    if (!other.empty()) {
      const std::string name = nest::difference_loop(index, other);
      space_.variables[name] = {nest::Variable::Origin::Difference, index, other};
      space_.parts[index] = {name};
      return;
    }
    const std::string outer = nest::outer_loop(index), inner = nest::inner_loop(index);
    space_.variables[outer] = {nest::Variable::Origin::Outer, index, {}, divisor};
    space_.variables[inner] = {nest::Variable::Origin::Inner, index, {}, divisor};
    space_.parts[index] = {outer, inner};
  }

  // Adds the indices of reductions.
  void add_reduced(const expr::Expr& expr) {
    if (const auto* reduce = expr.as<expr::Reduce>()) {
      for (const std::string& index : reduce->indices) add_index(index);
    }
    for (const expr::Expr& child : expr::children(expr)) add_reduced(child);
  }

  const expr::Statement& statement_;
  const std::map<std::string, expr::TensorType>& tensors_;
  const std::vector<const expr::Access*> operands_;
  const bool has_differences_;  // loops over differences are possible
  std::map<std::string, Wish> agreed_;
  std::set<std::string> subtracted_;  // all indices that some difference subtracts
  LoopSpace space_;
};

}  // namespace

LoopSpace make_loop_space(const expr::Statement& statement,
                          const std::map<std::string, expr::TensorType>& tensors,
                          Division division) {
  return LoopSpaceBuilder(statement, tensors).build(division);
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
