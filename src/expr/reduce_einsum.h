// einsum with a reduction other than the sum.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "expr/program.h"

namespace tulle::expr {

// Replaces the sum of an einsum by "mean", "amax", "amin" or "prod" over the entries that all its
// sparse operands have; "sum" stays. The value over no entries is 0, as in torch. Throws UserError
// for any other name.
ParsedProgram reduce_einsum(ParsedProgram einsum, std::string_view reduce,
                            const std::function<bool(const std::string& tensor)>& is_sparse);

}  // namespace tulle::expr
