// The type of an intermediate.
#pragma once

#include <map>
#include <string>

#include "expr/program.h"

namespace tulle::plan {

// Returns a type for the result of `part`, which the statement reads. The format fits its value. It
// distinguishes absence from 0 if the statement depends on that.
expr::TensorType intermediate_type(const expr::Statement& statement, const expr::Statement& part,
                                   const std::map<std::string, expr::TensorType>& tensors);

}  // namespace tulle::plan
