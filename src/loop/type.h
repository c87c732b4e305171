// Types of loop-IR expressions: an element type and a number of vector lanes.
#pragma once

#include <string>

#include "tulle/dtype.h"

namespace tulle::loop {

struct Type {
  DType scalar = DType::Int64;
  int lanes = 1;

  bool is_vector() const { return lanes > 1; }
  bool is_float() const { return tulle::is_float(scalar); }
  bool is_bool() const { return scalar == DType::Bool; }
  Type with_lanes(int count) const { return {scalar, count}; }
  bool operator==(const Type&) const = default;
};

inline constexpr Type kIndex{DType::Int64, 1};  // every address, bound and loop variable
inline constexpr Type kBool{DType::Bool, 1};

// "f32", "f32x16".
std::string to_string(Type type);

}  // namespace tulle::loop
