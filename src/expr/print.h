// The text of statements, and errors that point into it.
#pragma once

#include <string>

#include "expr/program.h"

namespace tulle::expr {

std::string to_string(const Statement& statement);

// What messages call the tensor: 'A', or operand 1 of an einsum.
std::string called(const Access& access);

// Raises a UserError with the message that points into the user's text: at a node of the
// statement's value, or at its left side where `at` is null. A statement that was not read from a
// text is printed.
[[noreturn]] void fail_in(const Statement& statement, const ExprNode* at,
                          const std::string& message);
// The same at one of the indices of an access, a sum or, where `at` is null, of the left side; and
// at another place, where there is one.
[[noreturn]] void fail_at_index(const Statement& statement, const ExprNode* at, size_t index,
                                const std::string& message, const Span& also = {});

}  // namespace tulle::expr
