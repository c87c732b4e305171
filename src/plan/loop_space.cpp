// Level space: splitting indices by the blocks of the operands.
#include "plan/loop_space.h"

#include <algorithm>

#include "support/check.h"

namespace tulle::plan {

namespace {

// The divisor by which a tensor's levels split each of its indices; 0 where a level that is not
// full takes it whole, or where two dimensions under one index are split differently.
std::map<std::string, int64_t> divisors(const Format& format,
                                        const std::vector<std::string>& indices) {
  std::map<std::string, int64_t> found;
  for (const Level& level : format.levels()) {
    const std::string& index = indices[static_cast<size_t>(level.expr.dimension)];
    const bool whole = level.expr.part == LevelExpr::Part::Whole;
    if (whole && is_full(level.kind)) continue;
    const int64_t divisor = whole ? 0 : level.expr.divisor;
    const auto known = found.try_emplace(index, divisor).first;
    if (known->second != divisor) known->second = 0;
  }
  return found;
}

}  // namespace

LoopSpace make_loop_space(const expr::Statement& statement,
                          const std::map<std::string, expr::TensorType>& tensors) {
  LoopSpace space;
  std::map<std::string, int64_t> agreed;
  auto collect = [&](const expr::Access& access) {
    const auto wanted = divisors(tensors.at(access.tensor).format, access.indices);
    const bool agrees = std::all_of(wanted.begin(), wanted.end(), [&](const auto& entry) {
      const auto found = agreed.find(entry.first);
      return found == agreed.end() || found->second == entry.second;
    });
    if (agrees) agreed.insert(wanted.begin(), wanted.end());
  };
  const auto operands = expr::accesses(statement.value);
  // A tensor without blocks can be walked over as it is; the blocked one gives way.
  for (const bool blocked : {false, true}) {
    for (const expr::Access* access : operands) {
      const Format& format = tensors.at(access->tensor).format;
      if (!format.is_dense() && format.has_blocks() == blocked) collect(*access);
    }
  }
  auto add_index = [&](const std::string& index) {
    if (space.parts.contains(index)) return;
    space.variables[index] = {};
    const auto found = agreed.find(index);
    if (found == agreed.end() || found->second == 0) {
      space.parts[index] = {index};
      return;
    }
    const std::string outer = index + "o", inner = index + "r";
    space.variables[outer] = {nest::Variable::Origin::Outer, index, {}, found->second};
    space.variables[inner] = {nest::Variable::Origin::Inner, index, {}, found->second};
    space.parts[index] = {outer, inner};
  };
  for (const std::string& index : statement.indices) add_index(index);
  for (const expr::Access* access : operands) {
    for (const std::string& index : access->indices) add_index(index);
  }
  return space;
}

std::string level_variable(const LevelExpr& level, const std::vector<std::string>& indices,
                           const LoopSpace& space) {
  const std::string& index = indices[static_cast<size_t>(level.dimension)];
  const std::vector<std::string>& parts = space.parts.at(index);
  if (level.part == LevelExpr::Part::Whole) return parts.size() == 1 ? parts[0] : std::string();
  if (parts.size() != 2 || space.variables.at(parts[0]).factor != level.divisor) return {};
  return level.part == LevelExpr::Part::Quotient ? parts[0] : parts[1];
}

}  // namespace tulle::plan
