// Split: forall k -> forall k0 { forall k1 }.
#include "schedule/split.h"

#include <cstdint>

#include "schedule/queries.h"
#include "support/check.h"

namespace tulle::schedule {

Nest split(const Nest& nest, const std::string& var, int64_t factor, const std::string& outer,
           const std::string& inner, Remarks* remarks) {
  require_loop(nest, var);
  require_untagged(nest, var, "split");
  constexpr int64_t longest = INT32_MAX;
  if (factor < 1 || factor > longest) {
    user_error("The factor ", factor, " cannot split '", var,
               "'; it is the length of a block, 1 to ", longest, ".");
  }
  if (nest.variable(var).is_position()) {
    user_error("'", var, "' counts entries; choose another length in split_positions instead.");
  }
  require_free_name(nest, outer);
  require_free_name(nest, inner);
  if (outer == inner)
    user_error("The two new loops are both called '", outer, "'; give them different names.");
  require_whole_in_tracked(nest, var, "split");
  if (const std::string tensor = sparse_tensor(nest, nest.root, var); !tensor.empty()) {
    remark(remarks, "'", tensor, "' holds only some coordinates of '", var, "': each block of ",
           factor, " is searched for in it, which is slow where blocks are few or small.");
  }

  Nest result = nest;
  result.variables[outer] = {.origin = Variable::Origin::Outer, .parent = var, .factor = factor};
  result.variables[inner] = {.origin = Variable::Origin::Inner, .parent = var, .factor = factor};
  result.root = rebuild(nest.root, [&](const Stmt& stmt) {
    const auto* forall = stmt.as<Forall>();
    if (!forall || forall->var != var) return stmt;
    return Forall::make(outer, Forall::make(inner, forall->body));
  });
  return result;
}

}  // namespace tulle::schedule
