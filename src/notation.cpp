// What is told of statements before operands are given.
#include <algorithm>

#include "composite.h"
#include "expr/check_notation.h"
#include "expr/program.h"
#include "schedule/decompositions.h"
#include "schedule/distribute.h"
#include "tulle/tulle.h"

namespace tulle {

NotationInfo describe_notation(std::string_view text, std::string_view schedule) {
  const expr::Program program = expr::parse_program(text);
  expr::check_notation(program);
  NotationInfo info;
  auto add_new = [](std::vector<std::string>& names, const std::string& name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  };
  std::vector<TensorSpec> operands;
  std::vector<schedule::Scope> scopes;
  for (const expr::Statement& statement : program.statements) {
    for (const expr::Access* access : expr::accesses(statement.value)) {
      const auto& assigned = info.assigned;
      if (std::find(assigned.begin(), assigned.end(), access->tensor) == assigned.end()) {
        add_new(info.operands, access->tensor);
        operands.push_back(
            {.name = access->tensor, .rank = static_cast<int>(access->indices.size())});
      }
    }
    add_new(info.assigned, statement.tensor);
    scopes.push_back(schedule::scope_of(statement));
  }
  const std::vector<schedule::Decomposition> steps = schedule::take_decompositions(schedule).steps;
  decomposed_specs(operands, steps);
  for (const schedule::Decomposition& step : steps) info.decomposed[step.operand] = step.format;
  schedule::Schedule known = schedule::parse_schedule(schedule);
  for (schedule::Step& step : known.steps)
    step = schedule::for_all_parts(std::move(step), info.assigned);
  schedule::distribute(known, std::move(scopes));
  return info;
}

}  // namespace tulle
