// Describes index notation before operands are given.
#include <algorithm>

#include "composite/composite.h"
#include "expr/check_notation.h"
#include "expr/program.h"
#include "schedule/decompositions.h"
#include "schedule/distribute.h"
#include "schedule/rewrites.h"
#include "support/made_names.h"
#include "support/name_list.h"
#include "tulle/tulle.h"

namespace tulle {

namespace {

// Whether the step applies to a statement, or names a tensor, that the compiler may add to the
// program for one of these tensors. Which ones it adds depends on the formats of operands.
bool is_about_added(const schedule::Step& step, const NotationInfo& tensors) {
  const auto is_added = [&](const std::string& name) {
    const std::string owner(name_before_dots(name));
    return is_made_name(name) &&
           (contains(tensors.operands, owner) || contains(tensors.assigned, owner));
  };
  if (is_added(step.statement)) return true;
  const std::vector<schedule::NameInStep> names = schedule::names_of(step);
  return std::any_of(names.begin(), names.end(), [&](const schedule::NameInStep& name) {
    return schedule::is_tensor(name.role) && is_added(name.name);
  });
}

}  // namespace

NotationInfo describe_notation(std::string_view text, std::string_view schedule) {
  const expr::ParsedProgram program = expr::parse_program(text);
  expr::check_notation(program);
  NotationInfo info;
  auto add_new = [](std::vector<std::string>& names, const std::string& name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  };
  std::vector<TensorSpec> operands;
  std::vector<schedule::StatementNames> scopes;
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
    scopes.push_back(schedule::names_of_statement(statement));
  }
  const std::vector<schedule::Decomposition> steps = schedule::take_decompositions(schedule).steps;
  decomposed_specs(operands, steps);
  for (const schedule::Decomposition& step : steps) info.decomposed[step.operand] = step.format;
  schedule::Schedule known = schedule::parse_schedule(schedule);
  for (schedule::Step& step : known.steps)
    step = schedule::for_all_parts(std::move(step), info.assigned);
  std::erase_if(known.steps,
                [&](const schedule::Step& step) { return is_about_added(step, info); });
  schedule::distribute(known, std::move(scopes));
  return info;
}

}  // namespace tulle
