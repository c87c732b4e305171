// Fuse: forall i { forall j } -> forall f.
#include "schedule/rewrites/fuse.h"

#include "schedule/queries.h"
#include "support/check.h"

namespace tulle::schedule {

Nest fuse(const Nest& nest, const std::string& outer, const std::string& inner,
          const std::string& fused) {
  for (const std::string& var : {outer, inner}) {
    require_loop(nest, var);
    require_untagged(nest, var, "fuse");
    require_whole_in_tracked(nest, var, "fuse");
  }
  require_free_name(nest, fused);

  bool found = false;
  Nest result = nest;
  result.variables[fused] = {.origin = Variable::Origin::Fused, .parent = outer, .second = inner};
  result.root = rebuild(nest.root, [&](const Stmt& stmt) {
    const auto* forall = stmt.as<Forall>();
    const auto* below = forall && forall->var == outer ? forall->body.as<Forall>() : nullptr;
    if (!below || below->var != inner) return stmt;
    for (const std::string& var : {outer, inner}) {
      if (const std::string tensor = sparse_tensor(nest, stmt, var); !tensor.empty()) {
        user_error("'", tensor, "' holds only some coordinates of '", var,
                   "', and loops over stored entries cannot be ", "fused yet; leave '", outer,
                   "' and '", inner, "' apart, or store '", tensor, "' densely along '", var, "'.");
      }
    }
    found = true;
    return Forall::make(fused, below->body);
  });
  if (!found) {
    user_error("No loop over '", inner, "' stands directly in one over '", outer,
               "'; bring them together with reorder(", outer, ", ", inner, ") first.");
  }
  return result;
}

}  // namespace tulle::schedule
