// prefetch: adds an operand to those that the nest prefetches.
#include "schedule/rewrites/prefetch.h"

#include "schedule/queries.h"
#include "support/check.h"

namespace tulle::schedule {

Result<Nest> prefetch(const Nest& nest, const Prefetch& step) {
  TULLE_TRY(require_role(nest, step.operand, Tensor::Role::Operand));
  for (const nest::PrefetchedOperand& earlier : nest.prefetches) {
    if (earlier.tensor == step.operand)
      return refusal("'", step.operand, "' already has prefetch; leave one of them out.");
  }
  Nest result = nest;
  result.prefetches.push_back({step.operand, static_cast<int>(step.distance)});
  return result;
}

}  // namespace tulle::schedule
