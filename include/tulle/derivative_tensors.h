// The tensors of a derivative, and their relation to the program that was derived.
#pragma once

#include <cstdint>
#include <string>

namespace tulle {

// The relation of a derivative's operand to the program that was derived: one of its operands, the
// pattern of a part of a composite operand, the value of a result, the gradient of a result, or the
// tangent of an operand.
enum class DerivativeRole : uint8_t { Operand, Part, Result, Gradient, Tangent };

struct DerivativeOperand {
  std::string name;
  DerivativeRole role = DerivativeRole::Operand;
  std::string of;  // the operand or result of the derived program
};

struct DerivativeResult {
  std::string name;  // empty if the derivative is 0 everywhere
  std::string of;    // the operand (gradient) or result (tangent) of the derived program
};

}  // namespace tulle
