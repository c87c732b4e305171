// Distinguishes workspaces that a statement fills from those it only adds to.
#include "nest/outliving.h"

#include <algorithm>
#include <set>

namespace tulle::nest {

namespace {

void collect_filled(const Stmt& stmt, std::set<std::string>& filled) {
  if (const auto* loop = stmt.as<Forall>()) return collect_filled(loop->body, filled);
  if (const auto* where = stmt.as<Where>()) {
    filled.insert(where->workspaces.begin(), where->workspaces.end());
    collect_filled(where->producer, filled);
    collect_filled(where->consumer, filled);
  }
  if (const auto* sequence = stmt.as<Sequence>()) {
    for (const Stmt& part : sequence->stmts) collect_filled(part, filled);
  }
}

}  // namespace

std::vector<std::string> outliving_workspaces(const Nest& nest, const Stmt& stmt) {
  std::set<std::string> filled;
  collect_filled(stmt, filled);
  std::vector<std::string> found;
  for (const Assign* assign : assigns(stmt)) {
    const bool is_workspace = nest.tensor(assign->tensor).role == Tensor::Role::Workspace;
    if (!is_workspace || filled.contains(assign->tensor)) continue;
    if (std::find(found.begin(), found.end(), assign->tensor) == found.end())
      found.push_back(assign->tensor);
  }
  return found;
}

}  // namespace tulle::nest
