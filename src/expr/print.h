// Prints statements, and throws errors that point into their text.
#pragma once

#include <string>

#include "expr/program.h"

namespace tulle::expr {

std::string to_string(const Statement& statement);

// The name of a tensor in messages: 'A', or operand 1 for an einsum.
std::string called(const Access& access);

// Throws a UserError that points into the user's text: at a node of the statement's value, or at
// its left side if `at` is null. If the statement has no source text, the message shows the printed
// statement.
[[noreturn]] void fail_in(const Statement& statement, const ExprNode* at,
                          const std::string& message);
// The same for one of the indices of an access, a sum or, if `at` is null, the left side; and also
// for a second place, if given.
[[noreturn]] void fail_at_index(const Statement& statement, const ExprNode* at, size_t index,
                                const std::string& message, const Span& also = {});

}  // namespace tulle::expr
