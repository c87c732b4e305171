// Limits members by the threads and memory that rows leave free.
#include "plan/order/member_loops.h"

#include <algorithm>

#include "plan/order/native_order.h"
#include "schedule/checks/members.h"

namespace tulle::plan {

namespace {

constexpr double kMostBytes = 1 << 28;  // total size of the workspaces of all threads

// The loops over the insides of the result's blocks, innermost first.
std::vector<std::string> block_loops(const OrderProblem& problem) {
  const expr::Statement& statement = *problem.statement;
  const auto& levels = problem.tensors->at(statement.tensor).format.levels();
  std::vector<std::string> found;
  for (auto level = levels.rbegin(); level != levels.rend() && is_full(level->kind); ++level) {
    const std::string var = level_variable(level->expr, statement.indices, problem.space);
    if (var.empty() || level->expr.part != LevelExpr::Part::Remainder) break;
    found.push_back(var);
  }
  return found;
}

// Whether the loop visits all coordinates of each operand.
bool is_counted(const WalkedOperands& operands, const std::string& var,
                const std::set<int>& converted) {
  const std::string& parent = operands.problem.space.variables.at(var).parent;
  return std::none_of(
      operands.sparse.begin(), operands.sparse.end(), [&](const expr::Access* access) {
        const auto& indices = access->indices;
        const bool has = std::find(indices.begin(), indices.end(), parent) != indices.end();
        return operands.walks(*access, var) || (has && converted.contains(access->id));
      });
}

}  // namespace

double most_members(const OrderProblem& problem) {
  double count = 1;
  if (!is_gpu(problem.backend)) return count;
  for (const std::string& var : block_loops(problem)) count *= problem.extents.at(var);
  return std::min<double>(count, schedule::kMostMembers);
}

std::vector<std::string> member_loops(const WalkedOperands& operands,
                                      const std::vector<std::string>& order,
                                      const RouteChoice& route, const std::set<int>& converted) {
  const OrderProblem& problem = operands.problem;
  if (!is_gpu(problem.backend) || route.route != Route::Tracked) return {};
  const std::vector<std::string> inside = block_loops(problem);
  const DType type = problem.tensors->at(problem.statement->tensor).type;
  double bytes = static_cast<double>(size_of(type)) * problem.extents.at(route.tracked);
  for (const std::string& var : inside) bytes *= problem.extents.at(var);
  const double rows = problem.extents.at(order.front());
  std::vector<std::string> members;
  double count = 1;
  for (const std::string& var : inside) {
    count *= problem.extents.at(var);
    const bool fits = rows * count <= problem.threads && rows * count * bytes <= kMostBytes;
    if (!fits || count > schedule::kMostMembers || !is_counted(operands, var, converted)) break;
    members.push_back(var);
  }
  return members;
}

}  // namespace tulle::plan
