// Adds tensors, indices and notes to a plan.
#include "plan/plan_draft.h"

#include "expr/absence.h"
#include "plan/rewrite/intermediate_type.h"
#include "support/half.h"

namespace tulle::plan {

PlanDraft::PlanDraft(const Request& request)
    : request(request),
      tensors(request.program->program.tensors),
      estimates(request),
      known_extents(request.known_extents),
      decisions(request.decisions) {
  for (const std::string& text : request.program->notes) note(text);
}

void PlanDraft::follow(GpuRule rule) {
  if (is_gpu(request.machine.backend)) plan.rules.insert(rule);
}

void PlanDraft::follow(Route route) {
  if (route == Route::Shared) follow(GpuRule::SharedPattern);
  if (route == Route::Append) follow(GpuRule::AppendedResult);
  if (route == Route::Tracked) follow(GpuRule::TrackedResult);
  if (route == Route::Sort) follow(GpuRule::SortedResult);
}

bool PlanDraft::has_known_extent(const std::string& index) const {
  const auto known = known_extents.find(index);
  return known != known_extents.end() && known->second > 0;
}

bool PlanDraft::has_most_rows(const expr::Access& access, const std::string& row) {
  return estimates.extent(row) <= 4 * estimates.count(access.tensor, access.indices);
}

std::string PlanDraft::same_extent(const std::string& index) {
  const std::string name = concat(index, ".", plan.extent_aliases.size(), "s");
  add_alias(name, index);
  return name;
}

void PlanDraft::add_alias(const std::string& name, const std::string& index) {
  estimates.add_index(name, index);
  const auto alias = plan.extent_aliases.find(index);
  plan.extent_aliases[name] = alias == plan.extent_aliases.end() ? index : alias->second;
  const auto known = known_extents.find(index);
  if (known != known_extents.end()) known_extents[name] = known->second;
}

void PlanDraft::add_temporary(const std::string& name, const expr::TensorType& type) {
  tensors[name] = type;
  plan.temporaries[name] = type;
}

std::string PlanDraft::next_part(const expr::Statement& statement) const {
  return concat(statement.tensor, ".part", plan.temporaries.size());
}

std::string PlanDraft::add_intermediate(const expr::Statement& statement,
                                        const expr::Statement& part) {
  return add_intermediate(statement, part, intermediate_type(statement, part, tensors));
}

std::string PlanDraft::add_intermediate(const expr::Statement& statement,
                                        const expr::Statement& part, const expr::TensorType& type) {
  const std::string name = next_part(statement);
  note(concat(name, " = ", expr::to_string(part.value), " is computed first, as ",
              type.format.name()));
  add_temporary(name, type);
  return name;
}

std::string PlanDraft::add_reduced(const expr::Statement& statement, const expr::Statement& part) {
  const std::string name = next_part(statement);
  const bool unbounded = expr::may_be_infinite(
      part.value, [&](const std::string& tensor) { return is_unbounded(tensor); });
  note(concat(name, " = ", expr::to_string(part.value), " is reduced first"));
  add_temporary(name, {compute_type(part.value.type()), tensors.at(statement.tensor).index_type,
                       Format::dense(static_cast<int>(part.indices.size())), unbounded});
  return name;
}

}  // namespace tulle::plan
