// Element types of values, positions and coordinates.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tulle {

// X(enumerator, text name, bytes)
#define TULLE_DTYPES(X)  \
  X(Bool, "bool", 1)     \
  X(Int32, "i32", 4)     \
  X(Int64, "i64", 8)     \
  X(Float16, "f16", 2)   \
  X(BFloat16, "bf16", 2) \
  X(Float32, "f32", 4)   \
  X(Float64, "f64", 8)

enum class DType : uint8_t {
#define X(name, text, bytes) name,
  TULLE_DTYPES(X)
#undef X
};

constexpr std::string_view name_of(DType type) {
  switch (type) {
#define X(name, text, bytes) \
  case DType::name:          \
    return text;
    TULLE_DTYPES(X)
#undef X
  }
  return "?";
}

constexpr int64_t size_of(DType type) {
  switch (type) {
#define X(name, text, bytes) \
  case DType::name:          \
    return bytes;
    TULLE_DTYPES(X)
#undef X
  }
  return 0;
}

constexpr std::optional<DType> dtype_from_name(std::string_view text) {
#define X(name, spelling, bytes) \
  if (text == spelling) return DType::name;
  TULLE_DTYPES(X)
#undef X
  return std::nullopt;
}

constexpr bool is_float(DType type) { return type >= DType::Float16; }
constexpr bool is_integer(DType type) { return type == DType::Int32 || type == DType::Int64; }

}  // namespace tulle
