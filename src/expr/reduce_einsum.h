// einsum with another reduction than the sum.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "expr/program.h"

namespace tulle::expr {

// The program of an einsum with its products reduced by "sum", "mean", "amax", "amin" or "prod"
// over the entries of its sparse operands, those that all of them have; 0 over none, as in torch.
// UserError for another name.
ParsedProgram reduce_einsum(ParsedProgram einsum, std::string_view reduce,
                            const std::function<bool(const std::string& tensor)>& is_sparse);

}  // namespace tulle::expr
