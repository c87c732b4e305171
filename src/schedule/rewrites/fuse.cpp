// Fuse: forall i { forall j } -> forall f.
#include "schedule/rewrites/fuse.h"

#include "schedule/queries.h"
#include "support/check.h"

namespace tulle::schedule {

namespace {

// Whether the loop runs over `outer` and its body is a loop over `inner`.
bool is_pair(const Forall& loop, const Fuse& step) {
  const auto* below = loop.var == step.outer ? loop.body.as<Forall>() : nullptr;
  return below && below->var == step.inner;
}

Result<> check_pair(const Nest& nest, const Forall& loop, const Fuse& step) {
  for (const std::string& var : {step.outer, step.inner}) {
    const std::string tensor = sparse_tensor(nest, loop.body, var);
    if (tensor.empty()) continue;
    return refusal("'", tensor, "' holds only some coordinates of '", var,
                   "', and loops over stored entries cannot be fused yet; leave '", step.outer,
                   "' and '", step.inner, "' apart, or store '", tensor, "' densely along '", var,
                   "'.");
  }
  return {};
}

}  // namespace

Result<Nest> fuse(const Nest& nest, const Fuse& step) {
  for (const std::string& var : {step.outer, step.inner}) {
    TULLE_TRY(require_loop(nest, var));
    TULLE_TRY(require_untagged(nest, var, "fuse"));
    TULLE_TRY(require_whole_in_tracked(nest, var, "fuse"));
  }
  TULLE_TRY(require_free_name(nest, step.fused));
  bool found = false;
  TULLE_TRY(check_each_loop(nest.root, [&](const Forall& loop) -> Result<> {
    if (!is_pair(loop, step)) return {};
    found = true;
    return check_pair(nest, loop, step);
  }));
  if (!found) {
    return refusal("No loop over '", step.inner, "' is directly inside one over '", step.outer,
                   "'; bring them together with reorder(", step.outer, ", ", step.inner,
                   ") first.");
  }
  Nest result = nest;
  result.variables[step.fused] = {
      .origin = Variable::Origin::Fused, .parent = step.outer, .second = step.inner};
  result.root = rebuild(nest.root, [&](const Stmt& stmt) {
    const auto* loop = stmt.as<Forall>();
    if (!loop || !is_pair(*loop, step)) return stmt;
    return Forall::make(step.fused, loop->body.as<Forall>()->body);
  });
  return result;
}

}  // namespace tulle::schedule
