// Nontemporal: a note on a result.
#include "schedule/rewrites/nontemporal.h"

#include "schedule/queries.h"
#include "support/check.h"

namespace tulle::schedule {

Nest nontemporal(const Nest& nest, const std::string& tensor, Remarks* remarks) {
  require_role(nest, tensor, Tensor::Role::Result);
  if (contains(nest.nontemporal, tensor)) {
    user_error("'", tensor, "' has had nontemporal already; leave one of them out.");
  }
  for (const Assign* assign : assigns(nest.root)) {
    if (assign->tensor != tensor || !assign->accumulate) continue;
    remark(
        remarks, "'", tensor,
        "' is accumulated in memory, where stores past the caches are slow; put precompute before ",
        "nontemporal.");
    break;
  }
  Nest result = nest;
  result.nontemporal.push_back(tensor);
  return result;
}

}  // namespace tulle::schedule
