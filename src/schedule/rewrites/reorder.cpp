// Reorder: a permutation of directly nested loops.
#include "schedule/rewrites/reorder.h"

#include <algorithm>

#include "schedule/queries.h"
#include "support/check.h"

namespace tulle::schedule {

namespace {

using Chain = std::vector<const Forall*>;

// The loop and those directly nested in it, outermost first.
Chain chain_from(const Forall& outermost) {
  Chain chain = {&outermost};
  while (const auto* next = chain.back()->body.as<Forall>()) chain.push_back(next);
  return chain;
}

bool has_all(const Chain& chain, const std::vector<std::string>& order) {
  return std::all_of(order.begin(), order.end(), [&](const std::string& var) {
    return std::any_of(chain.begin(), chain.end(),
                       [&](const Forall* loop) { return loop->var == var; });
  });
}

Chain permuted(const Chain& chain, const std::vector<std::string>& order) {
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

// Sums may run in any order; a location that is overwritten keeps the last value.
void check_assignments(const Nest& nest, const Stmt& body, const std::vector<std::string>& order) {
  for (const Assign* assign : lasting_assigns(body)) {
    if (assign->accumulate) continue;
    for (const std::string& var : order) {
      if (!covers(assign->indices, nest, var)) {
        user_error("'", assign->tensor, "' is overwritten for each '", var,
                   "', so that its value depends on the order ", "of the loops; leave '", var,
                   "' where it is.");
      }
    }
  }
}

void check_tags(const Chain& before, const Chain& after) {
  for (size_t at = 0; at < after.size(); ++at) {
    const Forall& loop = *after[at];
    if (&loop == before[at]) continue;
    if (loop.tag.kind == LoopTag::Kind::Parallel) {
      user_error("The parallel loop over '", loop.var,
                 "' must stay outermost; put reorder before parallel.");
    }
    if (loop.tag.is_bound()) {
      user_error("The loop over '", loop.var, "' is bound to a ", nest::bound_name(loop.tag.kind),
                 " and keeps its place; put reorder before bind.");
    }
    if (loop.tag.kind == LoopTag::Kind::Vector) {
      user_error("The vectorised loop over '", loop.var,
                 "' must stay innermost; put reorder before vectorize.");
    }
  }
}

Stmt reordered(const Nest& nest, const Stmt& stmt, const std::vector<std::string>& order,
               bool& found) {
  const auto* outermost = stmt.as<Forall>();
  if (!outermost) {
    return map_parts(stmt, [&](const Stmt& part) { return reordered(nest, part, order, found); });
  }
  const Chain before = chain_from(*outermost);
  Chain after = before;
  Stmt body = before.back()->body;
  if (has_all(before, order)) {
    found = true;
    after = permuted(before, order);
    check_assignments(nest, body, order);
    check_tags(before, after);
  } else {
    body = reordered(nest, body, order, found);
  }
  for (auto loop = after.rbegin(); loop != after.rend(); ++loop) {
    body = Forall::make((*loop)->var, std::move(body), (*loop)->tag);
  }
  return body;
}

}  // namespace

Nest reorder(const Nest& nest, const std::vector<std::string>& order) {
  for (const std::string& var : order) require_loop(nest, var);
  bool found = false;
  Nest result = nest;
  result.root = reordered(nest, nest.root, order, found);
  if (!found) {
    user_error("The loops over ", list_of(order),
               " do not stand directly in each other: a where or a sequence lies ",
               "between, or they are in different branches. Reorder the loops on each side of it "
               "alone, or put reorder ",
               "before precompute.");
  }
  return result;
}

}  // namespace tulle::schedule
