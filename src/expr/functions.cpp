// Tables of functions.
#include "expr/functions.h"

#include <algorithm>

namespace tulle::expr {

namespace {

constexpr std::string_view kReserved[] = {
    "max",         "min",   "mean",   "prod",  "any", "all", "argmax", "argmin", "softmax",
    "log_softmax", "where", "stored", "index", "exp", "log", "cos",    "cosh",   "sigmoid"};

}  // namespace

std::optional<ElementFunction> element_function(std::string_view name) {
#define X(enumerator, text, keeps_zero, integers) \
  if (name == (text)) return ElementFunction::enumerator;
  TULLE_ELEMENT_FUNCTIONS(X)
#undef X
  return std::nullopt;
}

std::string function_names() {
  std::string names = "sum";
#define X(enumerator, text, keeps_zero, integers) names += ", " text;
  TULLE_ELEMENT_FUNCTIONS(X)
#undef X
  return names;
}

bool is_reserved(std::string_view name) {
  return std::find(std::begin(kReserved), std::end(kReserved), name) != std::end(kReserved);
}

}  // namespace tulle::expr
