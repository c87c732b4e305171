// Estimates sizes from known and guessed values.
#include "plan/order/estimates.h"

#include <algorithm>

namespace tulle::plan {

namespace {

constexpr double kGuessedExtent = 1000;
constexpr double kGuessedDensity = 0.01;

}  // namespace

Estimates::Estimates(const Request& request) {
  for (const std::string& operand : request.program->program.operands) {
    const auto found = request.statistics.find(operand);
    if (found != request.statistics.end())
      counts_[operand] = static_cast<double>(found->second.count);
  }
  for (const auto& [index, uses] : request.program->extents) {
    for (const expr::ExtentUse& use : uses) {
      const auto found = request.statistics.find(use.tensor);
      if (found == request.statistics.end()) continue;
      extents_[index] =
          static_cast<double>(found->second.sizes[static_cast<size_t>(use.dimension)]);
    }
  }
}

double Estimates::extent(const std::string& index) const {
  const auto found = extents_.find(index);
  return found == extents_.end() ? kGuessedExtent : std::max(1.0, found->second);
}

double Estimates::count(const std::string& tensor, const std::vector<std::string>& indices) {
  const auto found = counts_.find(tensor);
  if (found != counts_.end()) return found->second;
  double count = kGuessedDensity;
  for (const std::string& index : indices) count *= extent(index);
  return counts_[tensor] = std::max(1.0, count);
}

void Estimates::add_index(const std::string& index, const std::string& same) {
  extents_[index] = extent(same);
}

}  // namespace tulle::plan
