// How a part of a statement is stored that is computed on its own.
#pragma once

#include <map>
#include <string>

#include "expr/program.h"

namespace tulle::plan {

// The type of `part`, whose result the statement reads: the format that fits its value, and one
// that tells absence from 0 where the statement asks.
expr::TensorType intermediate_type(const expr::Statement& statement, const expr::Statement& part,
                                   const std::map<std::string, expr::TensorType>& tensors);

}  // namespace tulle::plan
