// An unfinished plan: its steps, tensors and indices so far.
#pragma once

#include <map>
#include <string>

#include "plan/order/estimates.h"
#include "plan/order/result_route.h"
#include "plan/plan.h"

namespace tulle::plan {

struct PlanDraft {
  explicit PlanDraft(const Request& request);

  void note(const std::string& text) { plan.lines.push_back("# " + text); }
  // Records that the plan follows a rule for GPUs.
  void follow(GpuRule rule);
  void follow(Route route);

  bool is_sparse(const std::string& tensor) const { return !tensors.at(tensor).format.is_dense(); }
  bool is_unbounded(const std::string& tensor) const { return tensors.at(tensor).unbounded; }
  // Whether the kernels are specialised to a positive extent of the index.
  bool has_known_extent(const std::string& index) const;
  // Whether a first level over `row` has so few gaps that a dense level is cheaper.
  bool has_most_rows(const expr::Access& access, const std::string& row);

  // Adds an index with the same extent. Returns its name.
  std::string same_extent(const std::string& index);
  void add_alias(const std::string& name, const std::string& index);

  void add_temporary(const std::string& name, const expr::TensorType& type);
  // The name of the next tensor to compute before the statement.
  std::string next_part(const expr::Statement& statement) const;
  // Adds a tensor for a part of the statement that is computed separately. Returns its name.
  std::string add_intermediate(const expr::Statement& statement, const expr::Statement& part);
  std::string add_intermediate(const expr::Statement& statement, const expr::Statement& part,
                               const expr::TensorType& type);
  // Adds a dense tensor for a reduction that is computed first. Returns its name.
  std::string add_reduced(const expr::Statement& statement, const expr::Statement& part);

  const Request& request;
  std::map<std::string, expr::TensorType> tensors;
  Estimates estimates;
  std::map<std::string, int64_t> known_extents;
  Decisions decisions;  // decisions not yet taken
  Plan plan;
};

}  // namespace tulle::plan
