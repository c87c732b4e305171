// Reading extents from sizes.
#include "expr/extents.h"

#include "expr/print.h"
#include "support/check.h"

namespace tulle::expr {

namespace {

int64_t size_at(const Sizes& operands, const ExtentUse& use) {
  const auto sizes = operands.find(use.tensor);
  if (sizes == operands.end()) user_error("The operand '", use.tensor, "' was not given.");
  TULLE_CHECK(use.dimension < static_cast<int>(sizes->second.size()), "the rank of ", use.tensor);
  return sizes->second[static_cast<size_t>(use.dimension)];
}

}  // namespace

std::vector<std::map<std::string, int64_t>> index_extents(const ResolvedProgram& program,
                                                          const Sizes& operands) {
  std::vector<std::map<std::string, int64_t>> result;
  for (size_t n = 0; n < program.statements.size(); ++n) {
    std::map<std::string, int64_t> extents;
    for (const auto& [index, uses] : program.extents[n]) {
      const ExtentUse& first = uses.front();
      const int64_t extent = size_at(operands, first);
      for (const ExtentUse& use : uses) {
        const int64_t other = size_at(operands, use);
        if (other == extent) continue;
        fail_in(program.statements[n], nullptr,
                concat("the index '", index, "' has two extents: dimension ", first.dimension,
                       " of '", first.tensor, "' is ", extent, ", dimension ", use.dimension,
                       " of '", use.tensor, "' is ", other));
      }
      extents[index] = extent;
    }
    result.push_back(std::move(extents));
  }
  return result;
}

}  // namespace tulle::expr
