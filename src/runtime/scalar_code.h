// Scalar expressions of a host program, compiled to a short postfix code over numbered slots.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <variant>
#include <vector>

#include "loop/expr.h"

namespace tulle::runtime {

// Values are 64-bit slots as in loop/abi.h: integers sign-extended, floating-point numbers as bits.
class ScalarCode {
 public:
  // The meaning of a name: a slot, or an expression that replaces it.
  using Meaning = std::variant<int, loop::Expr>;
  using Lookup = std::function<Meaning(const std::string& name)>;

  ScalarCode() = default;  // the constant 0
  // Raises an InternalError if the expression loads or is a vector: the host computes only scalars.
  ScalarCode(const loop::Expr& expr, const Lookup& lookup);

  int64_t evaluate(const int64_t* slots) const {
    if (form_ == Form::Constant) return operand_;
    return form_ == Form::Slot ? slots[operand_] : run(slots);
  }

  bool operator==(const ScalarCode&) const = default;

 private:
  enum class Form : uint8_t { Constant, Slot, Code };
  enum class Action : uint8_t { Constant, Slot, Binary, Select, Cast, Call };
  struct Instruction {
    Action action;
    DType type;        // of the operands
    uint8_t what = 0;  // the BinaryOp, the Function or the DType to cast to
    int64_t operand = 0;
    bool operator==(const Instruction&) const = default;
  };

  void compile(const loop::Expr& expr, const Lookup& lookup, int depth);
  int64_t run(const int64_t* slots) const;

  Form form_ = Form::Constant;
  int64_t operand_ = 0;
  std::vector<Instruction> code_;
};

}  // namespace tulle::runtime
