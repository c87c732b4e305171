// PyTorch's names of element types, for messages. The texts of the compiler's stages use name_of().
#pragma once

#include <string_view>

#include "tulle/dtype.h"

namespace tulle {

constexpr std::string_view long_name_of(DType type) {
  switch (type) {
    case DType::Bool:
      return "bool";
    case DType::Int32:
      return "int32";
    case DType::Int64:
      return "int64";
    case DType::Float16:
      return "float16";
    case DType::BFloat16:
      return "bfloat16";
    case DType::Float32:
      return "float32";
    case DType::Float64:
      return "float64";
  }
  return "?";
}

}  // namespace tulle
