// The text of statements, and errors that point into it.
#pragma once

#include <string>

#include "expr/program.h"

namespace tulle::expr {

std::string to_string(const Statement& statement);

// Raises a UserError that shows the statement with a caret under `at`, a node of its value (under
// its left side where `at` is null), and the message.
[[noreturn]] void fail_in(const Statement& statement, const ExprNode* at,
                          const std::string& message);

}  // namespace tulle::expr
