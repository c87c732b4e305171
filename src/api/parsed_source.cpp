// Parsing einsums.
#include "api/parsed_source.h"

#include <algorithm>
#include <string>

#include "expr/reduce_einsum.h"
#include "format/composite.h"
#include "support/check.h"

namespace tulle {

expr::ParsedProgram parsed_einsum(std::string_view equation,
                                  const std::vector<TensorSpec>& operands,
                                  const ProgramOptions& options) {
  std::vector<std::string> names;
  std::vector<int> ranks;
  for (const TensorSpec& spec : operands) {
    names.push_back(spec.name);
    ranks.push_back(spec.rank);
  }
  expr::Dimensions ones;
  for (const OperandDimension& one : options.ones) {
    const bool exists = one.operand >= 0 && one.operand < static_cast<int>(ranks.size()) &&
                        one.dimension >= 0 &&
                        one.dimension < ranks[static_cast<size_t>(one.operand)];
    if (!exists) user_error("the option `ones` names a dimension that no operand has");
    ones.emplace(static_cast<size_t>(one.operand), static_cast<size_t>(one.dimension));
  }
  const auto is_sparse = [&](const std::string& name) {
    const auto spec = std::find_if(operands.begin(), operands.end(),
                                   [&](const TensorSpec& one) { return one.name == name; });
    return CompositeFormat::is_composite(spec->format) ||
           !Format::parse(spec->format, spec->rank).is_dense();
  };
  const expr::ParsedProgram parsed = expr::parse_einsum(equation, names, ranks, "out", ones);
  return expr::reduce_einsum(parsed, options.reduce, is_sparse);
}

}  // namespace tulle
