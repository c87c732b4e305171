// The names of functions in index notation.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "expr/expr.h"
#include "expr/program.h"

namespace tulle::expr {

// Users have no name for what only the compiler writes.
std::optional<ElementFunction> element_function(std::string_view name, Writer writer);
std::optional<Reduction> reduction_called(std::string_view name);
// All that may be called, for messages: "sum, neg, abs, ...".
std::string function_names();
// How one of these is called, for messages: "sum(j, x), ...".
std::string usage_of(std::string_view function);
// Whether the language has a function of that name which this version lacks.
bool is_reserved(std::string_view name);

}  // namespace tulle::expr
