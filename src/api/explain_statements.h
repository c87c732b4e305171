// The first stage that explain prints: the statements of a program.
#pragma once

#include <string>

#include "expr/program.h"

namespace tulle {

// The statements and the type of each tensor. Notes for each tensor whose padding a reduction sees.
std::string explain_statements(const expr::ResolvedProgram& program);

}  // namespace tulle
