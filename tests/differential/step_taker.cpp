// Finds the parts of a nest that steps can name.
#include "differential/step_taker.h"

#include <algorithm>

#include "schedule/queries.h"
#include "support/check.h"

namespace tulle::differential {

std::vector<std::string> StepTaker::loops() const { return schedule::loops_of(nest()); }

std::vector<std::string> StepTaker::tensors(nest::Tensor::Role role) const {
  std::vector<std::string> found;
  for (const auto& [name, tensor] : nest().tensors) {
    if (tensor.role == role) found.push_back(name);
  }
  return found;
}

bool StepTaker::is_summed(const std::string& var) const {
  const auto all = schedule::lasting_assigns(nest::find_loop(nest().root, var)->body);
  return std::any_of(all.begin(), all.end(), [&](const nest::Assign* assign) {
    return assign->accumulate && !schedule::covers(assign->indices, nest(), var);
  });
}

std::string StepTaker::draw_precompute(std::vector<std::string> vars,
                                       const std::string& workspace) {
  dice_.shuffle(vars);
  vars.resize(dice_.below(std::min<size_t>(vars.size(), 2) + 1));
  return concat("precompute(", workspace, ", (", vars.empty() ? "" : schedule::list_of(vars), "))");
}

std::string StepTaker::written(const std::string& step) {
  const bool several = statements_.numbers().size() > 1;
  return statements_.written(statement_, step, several && dice_.chance(0.75));
}

}  // namespace tulle::differential
