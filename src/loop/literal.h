// The text form of numbers, types and names.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "loop/expr.h"

namespace tulle::loop {

// `3` is an i64, `3:i32` an i32, `true` a bool. The text parses back to the same value.
std::string literal(const IntConst& constant);

// `0.5` is an f64, `0.5f` an f32. Other types, infinities and NaN name their type (`0.5:bf16`,
// `-inf:f32`). Writes the shortest decimal that parses back to the same bits.
std::string literal(const FloatConst& constant);

// Parses "f32" or "f32x16"; nothing if the text is not a type.
std::optional<Type> type_from_text(std::string_view text);

// Whether the word is a keyword of the text.
bool is_reserved(std::string_view word);

// Any name may be given to a variable or buffer. A name that equals a keyword has a dot in front in
// the text: .let
std::string name_text(const std::string& name);
std::string name_from_text(std::string_view text);

}  // namespace tulle::loop
