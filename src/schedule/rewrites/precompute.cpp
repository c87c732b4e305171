// Precompute: a where around the outermost summed loop.
#include "schedule/rewrites/precompute.h"

#include <algorithm>

#include "nest/bound_loops.h"
#include "schedule/checks/result_order.h"
#include "schedule/queries.h"
#include "support/check.h"
#include "support/half.h"
#include "support/mutant.h"

namespace tulle::schedule {

namespace {

using Loops = std::vector<const Forall*>;

// The only accumulation into the result. Refuses if there are several.
Result<const Assign*> accumulation(const Nest& nest) {
  std::vector<const Assign*> found;
  for (const Assign* assign : assigns(nest.root)) {
    if (assign->accumulate && nest.tensor(assign->tensor).role == Tensor::Role::Result)
      found.push_back(assign);
  }
  if (found.empty()) {
    return refusal(
        "Nothing is summed into the result here (steps before may have moved its sums into a "
        "workspace, and some reductions have one by themselves), so there is nothing to "
        "precompute; leave the step out.");
  }
  if (found.size() > 1) {
    return refusal("'", found[0]->tensor, "' is accumulated in ", found.size(),
                   " places, and precompute supports one; write the terms as separate statements.");
  }
  return found.front();
}

// The loops around the assignment, outermost first; false if it is not in the statement.
bool find_path(const Stmt& stmt, const Assign& target, Loops& path) {
  if (stmt.get() == &target) return true;
  if (const auto* forall = stmt.as<Forall>()) {
    path.push_back(forall);
    if (find_path(forall->body, target, path)) return true;
    path.pop_back();
  } else if (const auto* where = stmt.as<Where>()) {
    return find_path(where->consumer, target, path) || find_path(where->producer, target, path);
  } else if (const auto* sequence = stmt.as<Sequence>()) {
    return std::any_of(sequence->stmts.begin(), sequence->stmts.end(),
                       [&](const Stmt& part) { return find_path(part, target, path); });
  }
  return false;
}

// The loops from the outermost summed loop inward, without summed loops around it that add by
// atomics.
Result<Loops> summed_loops(const Nest& nest, const Assign& target) {
  Loops path;
  find_path(nest.root, target, path);
  const auto first = std::find_if(path.begin(), path.end(), [&](const Forall* loop) {
    return !loop->tag.by_atomics && !covers(target.indices, nest, loop->var);
  });
  if (first == path.end()) {
    return refusal("No loop around '", target.tensor,
                   "' is summed over, so there is nothing to precompute; leave the step out.");
  }
  return Loops(first, path.end());
}

// The loops of `loops` that run over the result's indices. The workspace needs them.
Result<Loops> result_loops(const Nest& nest, const Loops& loops, const Assign& target) {
  Loops found;
  for (const Forall* loop : loops) {
    const Result<bool> over_indices = is_over_indices(nest, target, loop->var, "precompute");
    if (!over_indices) return over_indices.error();
    if (!*over_indices) continue;
    TULLE_TRY(require_coordinates(nest, loop->var, "precompute"));
    found.push_back(loop);
  }
  return found;
}

// The loops with the variables `vars`, in that order.
Result<Loops> chosen_loops(const Loops& available, const NameList& vars,
                           const std::string& summed) {
  NameList names;
  for (const Forall* loop : available) names.push_back(loop->var);
  if (!std::is_permutation(vars.begin(), vars.end(), names.begin(), names.end())) {
    return refusal("The workspace is given the variables (", vars.empty() ? "" : list_of(vars),
                   "), but inside the summed loop over '", summed, "' the result's loops are (",
                   names.empty() ? "" : list_of(names), "); give exactly those, or reorder first.");
  }
  Loops chosen;
  for (const std::string& var : vars) {
    chosen.push_back(*std::find_if(available.begin(), available.end(),
                                   [&](const Forall* loop) { return loop->var == var; }));
  }
  return chosen;
}

// The level of the result that the variable runs over: a whole index, or the quotients or
// remainders of a block level. -1 if there is none.
int level_over(const Nest& nest, const Format& format, const std::vector<std::string>& indices,
               const std::string& var) {
  const Variable& variable = nest.variable(var);
  const auto runs_over = [&](const LevelExpr& level) {
    const std::string& index = indices[static_cast<size_t>(level.dimension)];
    if (level.is_whole()) return var == index && variable.origin == Variable::Origin::Source;
    const bool outer = level.part == LevelExpr::Part::Quotient;
    if (!outer && level.part != LevelExpr::Part::Remainder) return false;
    return variable.origin == (outer ? Variable::Origin::Outer : Variable::Origin::Inner) &&
           variable.parent == index && variable.factor == level.divisor;
  };
  for (int l = 0; l < format.level_count(); ++l) {
    if (runs_over(format.levels()[static_cast<size_t>(l)].expr)) return l;
  }
  return -1;
}

// The advice if a plain workspace is refused: a tracked workspace, if that is legal.
std::string in_place_of_plain(const Nest& nest, const std::string& workspace, const Loops& loops) {
  NameList vars;
  for (const Forall* loop : loops) vars.push_back(loop->var);
  const Precompute step = tracked_precompute(workspace, vars);
  const Result<Nest> tracked = precompute(nest, step);
  if (!tracked || find_disorder(*tracked)) return "leave precompute out";
  return concat("track that, ", to_string(Step{step}));
}

std::string_view word_of(Tensor::Tracking tracking) {
  return tracking == Tensor::Tracking::Scanned ? "scanned" : "tracked";
}

// A plain workspace stores all coordinates, so the result must store all of them.
Result<> check_plain(const Nest& nest, const Assign& target, const std::string& workspace,
                     const Loops& loops) {
  const Tensor& result = nest.tensor(target.tensor);
  const bool own_pattern = !result.type.format.is_dense() && result.shares_pattern_of.empty();
  const bool is_sparse = std::any_of(loops.begin(), loops.end(), [&](const Forall* loop) {
    return stores_sparsely(nest, target.tensor, target.indices, loop->var);
  });
  if (own_pattern || is_sparse) {
    return refusal(
        "'", target.tensor,
        "' stores only the coordinates of terms, and a plain workspace does not record them; ",
        in_place_of_plain(nest, workspace, loops), ".");
  }
  for (const Forall* loop : loops) {
    if (result.shares_pattern_of.empty() ||
        !leads_to_entries(nest, target.tensor, target.indices, loop->var))
      continue;
    return refusal("Loops search the entries of '", target.tensor, "' in '",
                   result.shares_pattern_of, "', and '", loop->var,
                   "' is one of these loops: move '", loop->var,
                   "' outside the sum, or leave precompute out.");
  }
  return {};
}

// A tracked workspace stores the coordinates that were written, so the result must store exactly
// these.
Result<> check_tracked(const Nest& nest, const Assign& target, const Loops& loops,
                       Tensor::Tracking tracking) {
  const Tensor& result = nest.tensor(target.tensor);
  const auto is_sparse = [&](const Forall* loop) {
    return stores_sparsely(nest, target.tensor, target.indices, loop->var);
  };
  const std::string_view word = word_of(tracking);
  const std::string way_out = concat("so there is nothing to track; leave '", word, "' out.");
  if (!result.shares_pattern_of.empty()) {
    return refusal("'", target.tensor, "' has the pattern of '", result.shares_pattern_of, "', ",
                   way_out);
  }
  if (loops.empty()) {
    return refusal("A ", word,
                   " workspace has a variable, but none was given; reorder so that a loop over ",
                   "the result's indices is inside the sum.");
  }
  if (!is_sparse(loops.front())) {
    return refusal("'", target.tensor, "' stores every coordinate of '", loops.front()->var, "', ",
                   way_out);
  }
  const auto level_of = [&](const Forall* loop) {
    return level_over(nest, result.type.format, target.indices, loop->var);
  };
  const int tracked = level_of(loops.front());
  if (tracked < 0) {
    return refusal("A ", word, " workspace needs an undivided variable, and '", loops.front()->var,
                   "' is derived; leave split and fuse out.");
  }
  for (size_t inner = 1; inner < loops.size(); ++inner) {
    if (!is_sparse(loops[inner]) && level_of(loops[inner]) > tracked) continue;
    return refusal("A ", word,
                   " workspace tracks its first variable, and the others run through the blocks ",
                   "that '", target.tensor, "' stores for each of its coordinates, which '",
                   loops[inner]->var, "' does not; reorder so that its loop is outside the sum.");
  }
  return {};
}

// The statement that stores the workspace into the result.
Stmt consumer_of(const Nest& nest, const Assign& target, const expr::Expr& workspace,
                 const Loops& loops, bool tracked) {
  const std::vector<const Assign*> all = assigns(nest.root);
  const auto writes = std::count_if(all.begin(), all.end(), [&](const Assign* assign) {
    return assign->tensor == target.tensor;
  });
  const bool adds = writes > 1 || nest::adds_up_by_atomics(nest);
  Stmt consumer = Assign::make(target.tensor, target.indices,
                               adds ? target.accumulate : std::nullopt, workspace);
  for (auto loop = loops.rbegin(); loop != loops.rend(); ++loop) {
    // Each member stores the elements that it computed.
    const bool keeps =
        !tracked || ((*loop)->tag.kind == LoopTag::Kind::Member && !mutant("member-stores-others"));
    consumer = Forall::make((*loop)->var, std::move(consumer), keeps ? (*loop)->tag : LoopTag{});
  }
  return consumer;
}

}  // namespace

Precompute tracked_precompute(const std::string& workspace, const NameList& loops) {
  return {.workspace = workspace,
          .loops = loops,
          .tracking = Tensor::Tracking::Tracked,
          .bare = loops.size() == 1};
}

Result<Nest> precompute(const Nest& nest, const Precompute& step) {
  const auto& [workspace, vars, tracking, bare] = step;
  TULLE_TRY(require_free_name(nest, workspace));
  const Result<const Assign*> accumulated = accumulation(nest);
  if (!accumulated) return accumulated.error();
  const Assign& target = **accumulated;
  const Result<Loops> inside = summed_loops(nest, target);
  if (!inside) return inside.error();
  const Forall& outermost = *inside->front();
  if (lasting_assigns(outermost.body).size() > 1) {
    return refusal("The summed loop over '", outermost.var, "' also writes tensors other than '",
                   target.tensor, "'; write these in a separate statement.");
  }
  const Result<Loops> available = result_loops(nest, *inside, target);
  if (!available) return available.error();
  const Result<Loops> loops = chosen_loops(*available, vars, outermost.var);
  if (!loops) return loops.error();
  const bool is_plain = tracking == Tensor::Tracking::Plain;
  TULLE_TRY(is_plain ? check_plain(nest, target, workspace, *loops)
                     : check_tracked(nest, target, *loops, tracking));

  const expr::TensorType& result_type = nest.tensor(target.tensor).type;
  const DType type = compute_type(result_type.type);
  Nest result = nest;
  result.tensors[workspace] = {
      .role = Tensor::Role::Workspace,
      .type = {type, result_type.index_type, Format::dense(static_cast<int>(vars.size()))},
      .tracking = tracking};
  const nest::Accumulate accumulate =
      mutant("precompute-overwrites") ? std::nullopt : target.accumulate;
  const Stmt summed =
      replace(outermost.body, &target, Assign::make(workspace, vars, accumulate, target.value));
  const Stmt producer = Forall::make(outermost.var, summed, outermost.tag);
  const expr::Expr access = expr::Access::make(next_access_id(nest), workspace, vars, type);
  const Stmt consumer = consumer_of(nest, target, access, *loops, !is_plain);
  result.root = replace(nest.root, &outermost, Where::make(workspace, consumer, producer));
  return result;
}

}  // namespace tulle::schedule
