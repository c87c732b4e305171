// Compares the loops around a result with its levels.
#include "schedule/checks/result_order.h"

#include <algorithm>

#include "schedule/queries.h"
#include "schedule/rewrites/precompute.h"
#include "support/check.h"

namespace tulle::schedule {

namespace {

// The loops around the assignment, outermost first; false if it is not in the statement.
bool find_loops(const Stmt& stmt, const Assign* target, NameList& loops) {
  if (stmt.get() == target) return true;
  if (const auto* forall = stmt.as<Forall>()) {
    loops.push_back(forall->var);
    if (find_loops(forall->body, target, loops)) return true;
    loops.pop_back();
  } else if (const auto* where = stmt.as<Where>()) {
    return find_loops(where->consumer, target, loops);
  } else if (const auto* sequence = stmt.as<Sequence>()) {
    return std::any_of(sequence->stmts.begin(), sequence->stmts.end(),
                       [&](const Stmt& part) { return find_loops(part, target, loops); });
  }
  return false;
}

// Whether the variable is fused, or a part of a fused variable.
bool is_of_fused(const Nest& nest, const std::string& var) {
  const Variable& variable = nest.variable(var);
  const bool is_half =
      variable.origin == Variable::Origin::Outer || variable.origin == Variable::Origin::Inner;
  return is_half ? is_of_fused(nest, variable.parent) : variable.origin == Variable::Origin::Fused;
}

bool are_halves(const Variable& outer, const Variable& inner) {
  return outer.origin == Variable::Origin::Outer && inner.origin == Variable::Origin::Inner &&
         outer.parent == inner.parent && outer.factor == inner.factor;
}

// Replaces fused loops by the loops they were made of, the more significant first. Nested halves of
// a fused loop ascend as it does, so they count as the fused loop. Other halves stay as they are.
NameList unfused(const Nest& nest, NameList loops) {
  for (size_t l = 0; l < loops.size();) {
    const Variable& variable = nest.variable(loops[l]);
    const auto next = loops.begin() + static_cast<std::ptrdiff_t>(l) + 1;
    if (variable.origin == Variable::Origin::Fused) {
      loops[l] = variable.parent;
      loops.insert(next, variable.second);
    } else if (next != loops.end() && are_halves(variable, nest.variable(*next)) &&
               is_of_fused(nest, variable.parent)) {
      loops[l] = variable.parent;
      loops.erase(next);
    } else {
      ++l;
      continue;
    }
    l = l > 0 ? l - 1 : 0;  // it may form a pair with the loop before it
  }
  return loops;
}

// The loops that run over a variable, the most significant first: one loop over it, or loops over
// the halves of its split.
NameList loops_over(const Nest& nest, const NameList& loops, const std::string& var) {
  if (contains(loops, var)) return {var};
  for (const auto& [outer, variable] : nest.variables) {
    if (variable.origin != Variable::Origin::Outer || variable.parent != var) continue;
    for (const auto& [inner, other] : nest.variables) {
      if (other.origin != Variable::Origin::Inner || other.parent != var ||
          other.factor != variable.factor) {
        continue;
      }
      NameList found = loops_over(nest, loops, outer);
      const NameList rest = loops_over(nest, loops, inner);
      if (found.empty() || rest.empty()) continue;
      found.insert(found.end(), rest.begin(), rest.end());
      return found;
    }
  }
  // If the loops over the second variable are outside, the difference ascends with the first
  // variable.
  for (const auto& [difference, variable] : nest.variables) {
    if (variable.origin != Variable::Origin::Difference || variable.parent != var) continue;
    NameList found = loops_over(nest, loops, difference);
    const NameList second = loops_over(nest, loops, variable.second);
    if (found.empty() || second.empty()) continue;
    const auto place = [&](const std::string& loop) {
      return std::find(loops.begin(), loops.end(), loop) - loops.begin();
    };
    if (place(second.back()) < place(found.front())) return found;
    found.insert(found.begin(), second.begin(), second.end());
    return found;
  }
  return {};
}

NameList loops_over(const Nest& nest, const NameList& loops, const LevelExpr& level,
                    const NameList& indices) {
  const std::string& index = indices[static_cast<size_t>(level.dimension)];
  if (level.is_difference()) {
    for (const auto& [name, variable] : nest.variables) {
      if (variable.origin != Variable::Origin::Difference || variable.parent != index ||
          variable.second != indices[static_cast<size_t>(level.second)]) {
        continue;
      }
      if (NameList found = loops_over(nest, loops, name); !found.empty()) return found;
    }
  } else if (!level.is_whole()) {
    const bool quotient = level.part == LevelExpr::Part::Quotient;
    for (const auto& [name, variable] : nest.variables) {
      if (variable.origin != (quotient ? Variable::Origin::Outer : Variable::Origin::Inner))
        continue;
      if (variable.parent != index || variable.factor != level.divisor) continue;
      if (NameList found = loops_over(nest, loops, name); !found.empty()) return found;
    }
  }
  return loops_over(nest, loops, index);
}

// Whether the format stores all coordinates of each entry.
bool is_list(const Format& format) {
  const std::vector<Level>& levels = format.levels();
  return !is_full(levels[0].kind) &&
         std::all_of(levels.begin() + 1, levels.end(),
                     [](const Level& level) { return is_branchless(level.kind); });
}

// The loops that correspond to the levels of the result, up to the last level that stores
// coordinates.
NameList wanted_loops(const Nest& nest, const Assign& assign, const NameList& loops) {
  const std::vector<Level>& levels = nest.tensor(assign.tensor).type.format.levels();
  size_t stored = 0;
  for (size_t l = 0; l < levels.size(); ++l) {
    if (!is_full(levels[l].kind)) stored = l + 1;
  }
  NameList wanted;
  for (size_t l = 0; l < stored; ++l) {
    const std::string& index = assign.indices[static_cast<size_t>(levels[l].expr.dimension)];
    // If halves of a fused loop cover the index together, no loop runs over the index itself.
    const bool is_in_halves = std::any_of(loops.begin(), loops.end(), [&](const std::string& loop) {
      return is_of_fused(nest, loop) && nest.derives_from(loop, index);
    });
    const NameList found =
        is_in_halves ? NameList{index} : loops_over(nest, loops, levels[l].expr, assign.indices);
    // One loop may correspond to both the quotient and the remainder.
    for (const std::string& loop : found) {
      if (wanted.empty() || wanted.back() != loop) wanted.push_back(loop);
    }
  }
  return wanted;
}

std::string free_name(const Nest& nest) {
  std::string name = "acc";
  for (int n = 2; nest.tensors.contains(name) || nest.variables.contains(name); ++n)
    name = concat("acc", n);
  return name;
}

// The steps that may remove the disorder: a tracked workspace over the result's loops inside the
// sum, or a reorder of the loops.
std::vector<Rewrite> possible_remedies(const Nest& nest, const Assign& assign,
                                       const NameList& wanted, const NameList& loops) {
  NameList inside, order = wanted;
  bool is_summed = false;
  for (const std::string& loop : loops) {
    if (!contains(wanted, loop)) order.push_back(loop);
    if (!covers(assign.indices, nest, loop)) {
      is_summed = true;
    } else if (is_summed) {
      inside.push_back(loop);
    }
  }
  std::vector<Rewrite> remedies;
  if (!inside.empty()) remedies.emplace_back(tracked_precompute(free_name(nest), inside));
  if (order.size() > 1) remedies.emplace_back(Reorder{order});
  return remedies;
}

}  // namespace

std::optional<Disorder> find_disorder(const Nest& nest) {
  for (const Assign* assign : assigns(nest.root)) {
    const Tensor& result = nest.tensor(assign->tensor);
    const Format& format = result.type.format;
    if (result.role != Tensor::Role::Result || format.is_dense()) continue;
    // A list without order accepts entries in any order.
    const bool in_order = format.is_ordered() || !is_list(format);
    if (!result.shares_pattern_of.empty() || (!in_order && !format.is_unique())) continue;
    NameList loops;
    find_loops(nest.root, assign, loops);
    const NameList apart = unfused(nest, loops);
    const NameList wanted = wanted_loops(nest, *assign, apart);
    // A loop fused with a summed loop visits an entry more than once.
    const bool once = std::all_of(loops.begin(), loops.end(), [&](const std::string& loop) {
      return covers(assign->indices, nest, loop) ||
             std::none_of(wanted.begin(), wanted.end(),
                          [&](const std::string& index) { return nest.derives_from(loop, index); });
    });
    if (once && wanted.size() <= apart.size() &&
        (in_order ? std::equal(wanted.begin(), wanted.end(), apart.begin())
                  : std::is_permutation(wanted.begin(), wanted.end(), apart.begin()))) {
      continue;
    }
    const std::string problem =
        concat("'", assign->tensor, "' (", format.name(),
               ") is built entry by entry, which takes the loops ", list_of(wanted), " outermost",
               in_order ? " in this order" : "", ", but the schedule has ", list_of(loops));
    return Disorder{problem, possible_remedies(nest, *assign, wanted, loops)};
  }
  return std::nullopt;
}

}  // namespace tulle::schedule
