// Runs the steps of a schedule.
#include "nest/verify.h"
#include "schedule/result_order.h"
#include "schedule/rewrites.h"
#include "schedule/schedule.h"
#include "support/check.h"
#include "support/mutant.h"
#include "support/scanner.h"

namespace tulle::schedule {

namespace {

// Shows the schedule with a caret under the step.
[[noreturn]] void refuse(const Schedule& schedule, size_t at, const std::string& reason) {
  const Schedule before{
      {schedule.steps.begin(), schedule.steps.begin() + static_cast<ptrdiff_t>(at)}};
  const size_t offset = at == 0 ? 0 : to_string(before).size() + 2;  // and "; "
  const std::string step = to_string(schedule.steps[at]);
  fail_at(to_string(schedule), offset, step.size(), "schedule", concat(step, ": ", reason));
}

}  // namespace

nest::Nest apply(const Schedule& schedule, const nest::Nest& nest, Remarks* remarks) {
  nest::Nest result = nest;
  for (size_t at = 0; at < schedule.steps.size(); ++at) {
    try {
      const Arguments arguments(schedule.steps[at]);
      result = find_rewrite(schedule.steps[at].rewrite)->apply(result, arguments, remarks);
    } catch (const UserError& error) {
      refuse(schedule, at, error.what());
    }
    nest::verify_nest(result);
  }
  if (!mutant("result-order-unchecked")) require_result_order(result);
  return result;
}

}  // namespace tulle::schedule
