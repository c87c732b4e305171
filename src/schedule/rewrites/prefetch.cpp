// Prefetch: a note on an operand.
#include "schedule/rewrites/prefetch.h"

#include "schedule/queries.h"
#include "support/check.h"

namespace tulle::schedule {

Nest prefetch(const Nest& nest, const std::string& tensor, int64_t distance) {
  require_role(nest, tensor, Tensor::Role::Operand);
  for (const nest::Prefetch& earlier : nest.prefetches) {
    if (earlier.tensor == tensor)
      user_error("'", tensor, "' has had prefetch already; leave one of them out.");
  }
  Nest result = nest;
  result.prefetches.push_back({tensor, static_cast<int>(distance)});
  return result;
}

}  // namespace tulle::schedule
