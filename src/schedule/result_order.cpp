// Comparing the loops around a result with its levels.
#include "schedule/result_order.h"

#include <algorithm>

#include "schedule/precompute.h"
#include "schedule/queries.h"
#include "support/check.h"

namespace tulle::schedule {

namespace {

using Names = std::vector<std::string>;

// The loops around the assignment, outermost first; false if it is not in the statement.
bool find_loops(const Stmt& stmt, const Assign* target, Names& loops) {
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

// The loops over a variable, the most significant first: itself, the halves of its split, or the
// loop that it is fused into.
Names loops_over(const Nest& nest, const Names& loops, const std::string& var) {
  if (contains(loops, var)) return {var};
  for (const auto& [outer, variable] : nest.variables) {
    if (variable.origin != Variable::Origin::Outer || variable.parent != var) continue;
    for (const auto& [inner, other] : nest.variables) {
      if (other.origin != Variable::Origin::Inner || other.parent != var ||
          other.factor != variable.factor) {
        continue;
      }
      Names found = loops_over(nest, loops, outer);
      const Names rest = loops_over(nest, loops, inner);
      if (found.empty() || rest.empty()) continue;
      found.insert(found.end(), rest.begin(), rest.end());
      return found;
    }
  }
  // With the second bound outside, the difference ascends as the variable does.
  for (const auto& [difference, variable] : nest.variables) {
    if (variable.origin != Variable::Origin::Difference || variable.parent != var) continue;
    Names found = loops_over(nest, loops, difference);
    const Names second = loops_over(nest, loops, variable.second);
    if (found.empty() || second.empty()) continue;
    const auto place = [&](const std::string& loop) {
      return std::find(loops.begin(), loops.end(), loop) - loops.begin();
    };
    if (place(second.back()) < place(found.front())) return found;
    found.insert(found.begin(), second.begin(), second.end());
    return found;
  }
  for (const auto& [fused, variable] : nest.variables) {
    if (variable.origin != Variable::Origin::Fused) continue;
    if (variable.parent == var || variable.second == var) {
      if (Names found = loops_over(nest, loops, fused); !found.empty()) return found;
    }
  }
  return {};
}

Names loops_over(const Nest& nest, const Names& loops, const LevelExpr& level,
                 const Names& indices) {
  const std::string& index = indices[static_cast<size_t>(level.dimension)];
  if (level.is_difference()) {
    for (const auto& [name, variable] : nest.variables) {
      if (variable.origin != Variable::Origin::Difference || variable.parent != index ||
          variable.second != indices[static_cast<size_t>(level.second)]) {
        continue;
      }
      if (Names found = loops_over(nest, loops, name); !found.empty()) return found;
    }
  } else if (!level.is_whole()) {
    const bool quotient = level.part == LevelExpr::Part::Quotient;
    for (const auto& [name, variable] : nest.variables) {
      if (variable.origin != (quotient ? Variable::Origin::Outer : Variable::Origin::Inner))
        continue;
      if (variable.parent != index || variable.factor != level.divisor) continue;
      if (Names found = loops_over(nest, loops, name); !found.empty()) return found;
    }
  }
  return loops_over(nest, loops, index);
}

// Whether each entry is stored with all its coordinates.
bool is_list(const Format& format) {
  const std::vector<Level>& levels = format.levels();
  return !is_full(levels[0].kind) &&
         std::all_of(levels.begin() + 1, levels.end(),
                     [](const Level& level) { return is_branchless(level.kind); });
}

// The loops that the levels of the result stand for, down to the last that stores coordinates.
Names wanted_loops(const Nest& nest, const Assign& assign, const Names& loops) {
  const std::vector<Level>& levels = nest.tensor(assign.tensor).type.format.levels();
  size_t stored = 0;
  for (size_t l = 0; l < levels.size(); ++l) {
    if (!is_full(levels[l].kind)) stored = l + 1;
  }
  Names wanted;
  for (size_t l = 0; l < stored; ++l) {
    for (const std::string& loop : loops_over(nest, loops, levels[l].expr, assign.indices)) {
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

// A tracked workspace over the result's loops inside the sum, or the loops in the wanted order.
Names possible_remedies(const Nest& nest, const Assign& assign, const Names& wanted,
                        const Names& loops) {
  Names remedies, inside, order = wanted;
  bool is_summed = false;
  for (const std::string& loop : loops) {
    if (!contains(wanted, loop)) order.push_back(loop);
    if (!covers(assign.indices, nest, loop)) {
      is_summed = true;
    } else if (is_summed) {
      inside.push_back(loop);
    }
  }
  if (!inside.empty()) remedies.push_back(tracked_precompute(free_name(nest), inside));
  if (order.size() > 1) remedies.push_back(concat("reorder(", list_of(order), ")"));
  return remedies;
}

}  // namespace

std::optional<Disorder> find_disorder(const Nest& nest) {
  for (const Assign* assign : assigns(nest.root)) {
    const Tensor& result = nest.tensor(assign->tensor);
    const Format& format = result.type.format;
    if (result.role != Tensor::Role::Result || format.is_dense()) continue;
    // Entries that are listed without order may come in any.
    const bool in_order = format.is_ordered() || !is_list(format);
    if (!result.shares_pattern_of.empty() || (!in_order && !format.is_unique())) continue;
    Names loops;
    find_loops(nest.root, assign, loops);
    const Names wanted = wanted_loops(nest, *assign, loops);
    // A loop that is fused with a summed one comes to an entry more than once.
    const bool once = std::all_of(wanted.begin(), wanted.end(), [&](const std::string& loop) {
      return covers(assign->indices, nest, loop);
    });
    if (once && wanted.size() <= loops.size() &&
        (in_order ? std::equal(wanted.begin(), wanted.end(), loops.begin())
                  : std::is_permutation(wanted.begin(), wanted.end(), loops.begin()))) {
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
