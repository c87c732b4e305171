// How numbers and types are written in the loop IR's text.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "loop/expr.h"

namespace tulle::loop {

// `3` is an i64, `3:i32` an i32, `true` a bool; the same value is read back.
std::string literal(const IntConst& constant);

// `0.5` is an f64, `0.5f` an f32, other types are named (`0.5:bf16`), as they are for infinities
// and NaN (`-inf:f32`). The shortest decimal that reads back to the same bits.
std::string literal(const FloatConst& constant);

// "f32" and "f32x16"; nothing if it is not a type.
std::optional<Type> type_from_text(std::string_view text);

// Whether the word is part of the language and cannot name a variable, buffer or kernel.
bool is_reserved(std::string_view word);

}  // namespace tulle::loop
