// Programs of nests and their text form.
#include "schedule/program.h"

#include <vector>

#include "nest/number_accesses.h"
#include "schedule/rewrites/fuse_launches.h"
#include "support/check.h"
#include "support/joined.h"

namespace tulle::schedule {

using nest::Tensor;
using nest::Variable;

namespace {

// The declaration of the tensor in the first nest that writes it, or else in the first that reads
// it.
const Tensor* find_tensor(const NestProgram& program, const std::string& name) {
  const Tensor* read = nullptr;
  for (const ProgramStep& step : program.steps) {
    const auto* scheduled = std::get_if<ScheduledNest>(&step);
    if (!scheduled) continue;
    const auto found = scheduled->nest.tensors.find(name);
    if (found == scheduled->nest.tensors.end()) continue;
    if (found->second.role == Tensor::Role::Result) return &found->second;
    if (!read && found->second.role == Tensor::Role::Operand) read = &found->second;
  }
  return read;
}

}  // namespace

const expr::TensorType& NestProgram::type_of(const std::string& tensor) const {
  if (const Tensor* found = find_tensor(*this, tensor)) return found->type;
  const auto known = unread.find(tensor);
  TULLE_CHECK(known != unread.end(), "the type of ", tensor);
  return known->second;
}

std::string NestProgram::pattern_of(const std::string& result) const {
  const Tensor* found = find_tensor(*this, result);
  return found ? found->shares_pattern_of : std::string();
}

NestProgram program_of(nest::Nest nest, Schedule schedule) {
  NestProgram program;
  for (const auto& [name, tensor] : nest.tensors) {
    if (tensor.role == Tensor::Role::Operand) program.operands.push_back(name);
    if (tensor.role == Tensor::Role::Result) program.results.push_back(name);
  }
  for (const auto& [name, variable] : nest.variables) {
    if (variable.origin == Variable::Origin::Source) program.indices.push_back(name);
  }
  program.steps.emplace_back(ScheduledNest{std::move(nest), std::move(schedule)});
  return program;
}

NestProgram apply(const NestProgram& program, Remarks* remarks) {
  NestProgram finished = program;
  for (ProgramStep& step : finished.steps) {
    auto* scheduled = std::get_if<ScheduledNest>(&step);
    if (!scheduled) continue;
    scheduled->nest =
        nest::with_numbered_accesses(apply(scheduled->schedule, scheduled->nest, remarks));
    std::erase_if(scheduled->schedule.steps,
                  [](const Step& one) { return !is_about_launches(one); });
  }
  return finished;
}

std::string to_string(const NestProgram& program) {
  std::string text = concat("program(", joined(program.operands), "; ", joined(program.indices),
                            ") -> (", joined(program.results), ")\n");
  for (const auto& [name, type] : program.unread) {
    text += concat("operand ", name, ": ", name_of(type.type), ", ", name_of(type.index_type), ", ",
                   type.format.to_string(), "\n");
  }
  for (const auto& [index, same] : program.same_extents)
    text += concat("same ", index, " = ", same, "\n");
  for (const ProgramStep& step : program.steps) {
    if (const auto* sort = std::get_if<SortEntries>(&step)) {
      text += concat("sort ", sort->from, " into ", sort->to, "\n");
      continue;
    }
    const auto& scheduled = std::get<ScheduledNest>(step);
    text += nest::to_string(scheduled.nest);
    if (!scheduled.schedule.steps.empty())
      text += concat("schedule: ", to_string(scheduled.schedule), "\n");
  }
  return text;
}

}  // namespace tulle::schedule
