// Tables of functions.
#include "expr/functions.h"

#include <algorithm>

#include "support/check.h"
#include "support/similar_name.h"

namespace tulle::expr {

namespace {

constexpr std::string_view kReserved[] = {"any", "all", "stored"};

}  // namespace

std::optional<ElementFunction> element_function(std::string_view name, Writer writer) {
  if (writer == Writer::User && name == text_of(ElementFunction::Position)) return std::nullopt;
#define X(enumerator, text, keeps_zero, integers) \
  if (name == (text)) return ElementFunction::enumerator;
  TULLE_ELEMENT_FUNCTIONS(X)
#undef X
  return std::nullopt;
}

std::optional<Reduction> reduction_called(std::string_view name) {
  if (name == text_of(Reduction::ExpSum)) return std::nullopt;
#define X(enumerator, text, same_type) \
  if (name == (text)) return Reduction::enumerator;
  TULLE_REDUCTIONS(X)
#undef X
  return std::nullopt;
}

std::string function_names() {
  std::string names;
#define X(enumerator, text, same_type) \
  if (reduction_called(text)) names += (names.empty() ? "" : ", ") + std::string(text);
  TULLE_REDUCTIONS(X)
#undef X
  names += ", softmax, log_softmax, where, within, index, extent";
#define X(enumerator, text, keeps_zero, integers) \
  if (element_function(text, Writer::User)) names += ", " text;
  TULLE_ELEMENT_FUNCTIONS(X)
#undef X
  return names;
}

std::string instead_of_function(std::string_view name) {
  struct Expression {
    std::string_view function;
    std::string_view text;
  };
  // Functions of torch that are short expressions.
  static constexpr Expression kExpressions[] = {
      {"clamp", "min(max(x, low), high)"},
      {"gelu", "0.5 * x * (1 + erf(x / sqrt(2)))"},
      {"leaky_relu", "max(x, 0.2 * x)"},
      {"log2", "log(x) / log(2)"},
      {"maximum", "max(x, y)"},
      {"minimum", "min(x, y)"},
      {"norm", "sqrt(sum(j, x * x))"},
      {"pow", "x * x, or exp(y * log(x)) for x above 0"},
      {"reciprocal", "1 / x"},
      {"rsqrt", "1 / sqrt(x)"},
      {"silu", "x * sigmoid(x)"},
      {"softplus", "log1p(exp(x))"},
  };
  for (const Expression& one : kExpressions) {
    if (one.function == name) return concat(" (write ", one.text, ")");
  }
  return did_you_mean(name, function_names());
}

std::string usage_of(std::string_view function) {
  if (function == "where") return "where(c, x, y)";
  if (function == "within") return "within(A[i,j], x)";
  if (function == "index" || function == "extent") return concat(function, "(j)");
  const std::optional<Reduction> op = reduction_called(function);
  const bool is_softmax = function == "softmax" || function == "log_softmax";
  if (!op && !is_softmax) return concat(function, "(x)");
  const bool over_several = op && op != Reduction::ArgMax && op != Reduction::ArgMin;
  const bool of_two = op == Reduction::Max || op == Reduction::Min;
  return concat(function, "(j, x) over an index j, ",
                over_several ? concat(function, "((j,k), x) over several, ") : "",
                of_two ? "" : "or ", function, "(j in A[i,j], x) over the entries of A",
                of_two ? concat(", or ", function, "(x, y) of two values") : "");
}

bool is_reserved(std::string_view name) {
  return std::find(std::begin(kReserved), std::end(kReserved), name) != std::end(kReserved);
}

}  // namespace tulle::expr
