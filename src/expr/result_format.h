// The default format of a result.
#pragma once

#include <map>
#include <string>

#include "expr/program.h"

namespace tulle::expr {

// Applies the rules of the language, which result_format.cpp lists one by one. The statement must
// be resolved, and `tensors` must contain all tensors it reads.
Format result_format(const Statement& statement, const std::map<std::string, TensorType>& tensors);

}  // namespace tulle::expr
