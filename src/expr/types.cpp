// The promotion rules.
#include "expr/types.h"

#include <algorithm>

namespace tulle::expr {

DType promote_types(DType a, DType b) {
  if (a == b) return a;
  const DType low = std::min(a, b);
  const DType high = std::max(a, b);
  // The enumeration is in promotion order, except that the two half types promote to float32.
  if (low == DType::Float16 && high == DType::BFloat16) return DType::Float32;
  return high;
}

TypedStrength promote(const TypedStrength& a, const TypedStrength& b) {
  if (a.strength == b.strength) return {promote_types(a.type, b.type), a.strength};
  const TypedStrength& strong = a.strength > b.strength ? a : b;
  const TypedStrength& weak = a.strength > b.strength ? b : a;
  if (is_float(strong.type)) return strong;
  if (is_float(weak.type)) {
    // A literal has no width: combined with integers, a float literal has the default type.
    return {weak.strength == Strength::Number ? DType::Float32 : weak.type, strong.strength};
  }
  if (strong.type == DType::Bool) return {promote_types(strong.type, weak.type), strong.strength};
  return strong;
}

DType as_float(DType type) { return is_float(type) ? type : DType::Float32; }

}  // namespace tulle::expr
