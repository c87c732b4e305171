// The format of a result that nobody chose.
#pragma once

#include <map>
#include <string>

#include "expr/program.h"

namespace tulle::expr {

// By the rules of the language, which result_format.cpp states one by one. The statement is
// resolved, the types of all tensors that it reads are known.
Format result_format(const Statement& statement, const std::map<std::string, TensorType>& tensors);

}  // namespace tulle::expr
