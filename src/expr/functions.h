// Looks functions up by name. The table of element functions is TULLE_ELEMENT_FUNCTIONS in expr.h;
// CONTRIBUTING.md lists the edits for a new one.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "expr/expr.h"
#include "expr/program.h"

namespace tulle::expr {

// Functions that only the compiler writes have no name for Writer::User.
std::optional<ElementFunction> element_function(std::string_view name, Writer writer);
std::optional<Reduction> reduction_called(std::string_view name);
// All functions, for messages: "sum, neg, abs, ...".
std::string function_names();
// What to write in place of a function that does not exist, for messages: " (write 1 / x)",
// " (did you mean 'relu'?)" or "".
std::string instead_of_function(std::string_view name);
// The usage of one of them, for messages: "sum(j, x), ...".
std::string usage_of(std::string_view function);
// Whether the language reserves the name for a function that is not supported yet.
bool is_reserved(std::string_view name);

}  // namespace tulle::expr
