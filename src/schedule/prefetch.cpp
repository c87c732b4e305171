// Prefetch: a note on an operand.
#include "schedule/prefetch.h"

#include "schedule/queries.h"
#include "support/check.h"

namespace tulle::schedule {

Nest prefetch(const Nest& nest, const std::string& tensor, int64_t distance) {
  constexpr int64_t farthest = 1024;
  require_role(nest, tensor, Tensor::Role::Operand);
  if (distance < 1 || distance > farthest) {
    user_error("'", tensor, "' is fetched 1 to ", farthest, " entries ahead, but ", distance,
               " was given.");
  }
  for (const nest::Prefetch& earlier : nest.prefetches) {
    if (earlier.tensor == tensor)
      user_error("'", tensor, "' has had prefetch already; leave one of them out.");
  }
  Nest result = nest;
  result.prefetches.push_back({tensor, static_cast<int>(distance)});
  return result;
}

}  // namespace tulle::schedule
