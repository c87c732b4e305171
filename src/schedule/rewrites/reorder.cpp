// Reorder: a permutation of directly nested loops.
#include "schedule/rewrites/reorder.h"

#include <algorithm>

#include "schedule/queries.h"
#include "support/check.h"

namespace tulle::schedule {

namespace {

using Chain = std::vector<const Forall*>;

// The loop and the loops nested directly in it, outermost first.
Chain chain_from(const Forall& outermost) {
  Chain chain = {&outermost};
  while (const auto* next = chain.back()->body.as<Forall>()) chain.push_back(next);
  return chain;
}

bool has_all(const Chain& chain, const NameList& order) {
  return std::all_of(order.begin(), order.end(), [&](const std::string& var) {
    return std::any_of(chain.begin(), chain.end(),
                       [&](const Forall* loop) { return loop->var == var; });
  });
}

Chain permuted(const Chain& chain, const NameList& order) {
  Chain result = chain;
  size_t next = 0;
  for (const Forall*& loop : result) {
    if (!contains(order, loop->var)) continue;
    loop = *std::find_if(chain.begin(), chain.end(),
                         [&](const Forall* l) { return l->var == order[next]; });
    ++next;
  }
  return result;
}

// Sums may run in any order. An overwritten location keeps the last value, so its order must not
// change.
Result<> check_assignments(const Nest& nest, const Stmt& body, const NameList& order) {
  for (const Assign* assign : lasting_assigns(body)) {
    if (assign->accumulate) continue;
    for (const std::string& var : order) {
      if (!covers(assign->indices, nest, var)) {
        return refusal("'", assign->tensor, "' is overwritten for each '", var,
                       "', so that its value depends on the order ", "of the loops; leave '", var,
                       "' where it is.");
      }
    }
  }
  return {};
}

Result<> check_tags(const Chain& before, const Chain& after) {
  for (size_t at = 0; at < after.size(); ++at) {
    const Forall& loop = *after[at];
    if (&loop == before[at]) continue;
    if (loop.tag.kind == LoopTag::Kind::Parallel) {
      return refusal("The parallel loop over '", loop.var,
                     "' must stay outermost; put reorder before parallel.");
    }
    if (loop.tag.is_bound()) {
      return refusal("The loop over '", loop.var, "' is bound to a ",
                     nest::bound_name(loop.tag.kind),
                     " and keeps its place; put reorder before bind.");
    }
    if (loop.tag.kind == LoopTag::Kind::Vector) {
      return refusal("The vectorised loop over '", loop.var,
                     "' must stay innermost; put reorder before vectorize.");
    }
  }
  return {};
}

// Refuses if a chain below the statement contains all of the loops and cannot be reordered. Sets
// `found` if there is such a chain.
Result<> check_chains(const Nest& nest, const Stmt& stmt, const NameList& order, bool& found) {
  const auto* outermost = stmt.as<Forall>();
  if (!outermost) {
    for (const Stmt& part : parts_of(stmt)) TULLE_TRY(check_chains(nest, part, order, found));
    return {};
  }
  const Chain chain = chain_from(*outermost);
  const Stmt& body = chain.back()->body;
  if (!has_all(chain, order)) return check_chains(nest, body, order, found);
  found = true;
  TULLE_TRY(check_assignments(nest, body, order));
  return check_tags(chain, permuted(chain, order));
}

Stmt reordered(const Stmt& stmt, const NameList& order) {
  const auto* outermost = stmt.as<Forall>();
  if (!outermost) return map_parts(stmt, [&](const Stmt& part) { return reordered(part, order); });
  Chain chain = chain_from(*outermost);
  Stmt body = chain.back()->body;
  if (has_all(chain, order)) {
    chain = permuted(chain, order);
  } else {
    body = reordered(body, order);
  }
  for (auto loop = chain.rbegin(); loop != chain.rend(); ++loop)
    body = Forall::make((*loop)->var, std::move(body), (*loop)->tag);
  return body;
}

}  // namespace

Result<Nest> reorder(const Nest& nest, const Reorder& step) {
  for (const std::string& var : step.loops) TULLE_TRY(require_loop(nest, var));
  bool found = false;
  TULLE_TRY(check_chains(nest, nest.root, step.loops, found));
  if (!found) {
    return refusal("The loops over ", list_of(step.loops),
                   " are not directly nested: a where or a sequence is between them, or ",
                   "they are in different branches. Reorder the loops on each side separately, ",
                   "or put reorder before precompute.");
  }
  Nest result = nest;
  result.root = reordered(nest.root, step.loops);
  return result;
}

}  // namespace tulle::schedule
