// Numbers, types and names of the loop IR's text.
#include "loop/literal.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>

#include "support/check.h"

namespace tulle::loop {

namespace {

template <typename Number>
std::string shortest(Number value) {
  char buffer[64];
  const auto end = std::to_chars(buffer, buffer + sizeof(buffer), value).ptr;
  std::string text(buffer, end);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

}  // namespace

std::string literal(const IntConst& constant) {
  if (constant.type.is_bool()) return constant.value ? "true" : "false";
  if (constant.type == kIndex) return std::to_string(constant.value);
  return concat(constant.value, ":", to_string(constant.type));
}

std::string literal(const FloatConst& constant) {
  const double value = constant.value;
  const std::string type = to_string(constant.type);
  if (std::isnan(value)) return concat("nan:", type);
  if (std::isinf(value)) return concat(value < 0 ? "-inf:" : "inf:", type);
  if (constant.type.scalar == DType::Float32) return shortest(static_cast<float>(value)) + "f";
  return constant.type.scalar == DType::Float64 ? shortest(value)
                                                : concat(shortest(value), ":", type);
}

std::optional<Type> type_from_text(std::string_view text) {
  const size_t x = text.find('x');
  const auto scalar = dtype_from_name(text.substr(0, x));
  if (!scalar) return std::nullopt;
  if (x == std::string_view::npos) return Type{*scalar, 1};
  int lanes = 0;
  const char* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data() + x + 1, end, lanes);
  if (parsed.ec != std::errc() || parsed.ptr != end || lanes < 2) return std::nullopt;
  return Type{*scalar, lanes};
}

bool is_reserved(std::string_view word) {
  constexpr std::string_view words[] = {"let",   "var",         "for",   "while", "if",
                                        "else",  "true",        "false", "inf",   "nan",
                                        "alloc", "nontemporal", "read"};
  return std::find(std::begin(words), std::end(words), word) != std::end(words);
}

std::string name_text(const std::string& name) { return is_reserved(name) ? "." + name : name; }

std::string name_from_text(std::string_view text) {
  return std::string(text.substr(text.starts_with('.') ? 1 : 0));
}

}  // namespace tulle::loop
