// Nontemporal: a flag of a result.
#include "schedule/rewrites/nontemporal.h"

#include "schedule/queries.h"
#include "support/check.h"

namespace tulle::schedule {

Result<Nest> nontemporal(const Nest& nest, const NonTemporal& step, Remarks* remarks) {
  const std::string& tensor = step.result;
  TULLE_TRY(require_role(nest, tensor, Tensor::Role::Result));
  if (contains(nest.nontemporal, tensor)) {
    return refusal("'", tensor, "' already has nontemporal; leave one of them out.");
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
