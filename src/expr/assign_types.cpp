// The typing rules of each node.
#include "expr/assign_types.h"

#include <cmath>
#include <cstdint>

#include "expr/print.h"
#include "expr/types.h"
#include "support/check.h"

namespace tulle::expr {

namespace {

struct Typed {
  Expr expr;
  Strength strength;
};

bool accepts_integers(ElementFunction function) {
  switch (function) {
#define X(name, text, keeps_zero, integers) \
  case ElementFunction::name:               \
    return integers;
    TULLE_ELEMENT_FUNCTIONS(X)
#undef X
  }
  internal_error("unknown element function");
}

double apply(BinaryOp op, double a, double b) {
  switch (op) {
    case BinaryOp::Add:
      return a + b;
    case BinaryOp::Sub:
      return a - b;
    case BinaryOp::Mul:
      return a * b;
    case BinaryOp::Div:
      return a / b;
  }
  internal_error("unknown operation");
}

class TypeAssigner {
 public:
  TypeAssigner(const Statement& statement, const std::map<std::string, TensorType>& tensors,
               const std::set<std::string>& numbers)
      : statement_(statement), tensors_(tensors), numbers_(numbers) {}

  Typed type(const Expr& expr) {
    const Typed found = type_bare(expr);
    return {placed(found.expr, expr->place), found.strength};
  }

 private:
  // The node without its place.
  Typed type_bare(const Expr& expr) {
    if (const auto* literal = expr.as<Literal>()) {
      const DType type = literal->is_integer ? DType::Int64 : DType::Float32;
      return {Literal::make(literal->value, literal->is_integer, type), Strength::Number};
    }
    if (const auto* access = expr.as<Access>()) return type_access(*access);
    if (const auto* unary = expr.as<Unary>()) return type_unary(*unary);
    if (const auto* binary = expr.as<Binary>()) return type_binary(*binary);
    const auto* reduce = expr.as<Reduce>();
    const Typed body = type(reduce->body);
    return {Reduce::make(reduce->indices, body.expr), body.strength};
  }

  Typed type_access(const Access& access) {
    const Strength strength = numbers_.contains(access.tensor) ? Strength::Number
                              : access.indices.empty()         ? Strength::Scalar
                                                               : Strength::Tensor;
    const DType type = tensors_.at(access.tensor).type;
    return {Access::make(next_id_++, access.tensor, access.indices, type), strength};
  }

  Typed type_unary(const Unary& unary) {
    const Typed value = type(unary.value);
    DType type = value.expr.type();
    if (!accepts_integers(unary.function)) {
      type = as_float(type);
    } else if (type == DType::Bool && unary.function == ElementFunction::Square) {
      type = DType::Int64;
    } else if (type == DType::Bool && unary.function != ElementFunction::Sign) {
      fail_in(statement_, &unary,
              concat("'", text_of(unary.function), "' has no meaning for bool; convert its ",
                     "argument to another type first"));
    }
    return {Unary::make(unary.function, converted(value.expr, type), type), value.strength};
  }

  Typed type_binary(const Binary& binary) {
    const Typed a = type(binary.a);
    const Typed b = type(binary.b);
    if (const Expr folded = fold(binary.op, a.expr, b.expr)) return {folded, Strength::Number};
    if (binary.op == BinaryOp::Sub &&
        (a.expr.type() == DType::Bool || b.expr.type() == DType::Bool)) {
      fail_in(statement_, a.expr.type() == DType::Bool ? a.expr.get() : b.expr.get(),
              "'-' has no meaning for bool, and this is bool; convert it to another type first");
    }
    auto [type, strength] = promote({a.expr.type(), a.strength}, {b.expr.type(), b.strength});
    if (binary.op == BinaryOp::Div) type = as_float(type);
    return {Binary::make(binary.op, converted(a.expr, type), converted(b.expr, type), type),
            strength};
  }

  // The operation on two numbers, as Python computes it; null where an operand is not a number in
  // the text or the result is not exact.
  static Expr fold(BinaryOp op, const Expr& a, const Expr& b) {
    const auto* x = a.as<Literal>();
    const auto* y = b.as<Literal>();
    if (x == nullptr || y == nullptr) return {};
    const double value = apply(op, x->value, y->value);
    const bool is_integer = x->is_integer && y->is_integer && op != BinaryOp::Div;
    constexpr double exact = 9007199254740992.0;  // 2^53
    if (!std::isfinite(value) || (is_integer && std::abs(value) > exact)) return {};
    return Literal::make(value, is_integer, is_integer ? DType::Int64 : DType::Float32);
  }

  // A number in the text takes the type of the operation it stands in, wrapped to it as integers
  // are; others are converted by the operation.
  static Expr converted(const Expr& expr, DType type) {
    const auto* literal = expr.as<Literal>();
    if (literal == nullptr) return expr;
    double value = literal->value;
    if (type == DType::Int32) value = static_cast<int32_t>(static_cast<int64_t>(value));
    return placed(Literal::make(value, literal->is_integer, type), expr->place);
  }

  const Statement& statement_;
  const std::map<std::string, TensorType>& tensors_;
  const std::set<std::string>& numbers_;
  int next_id_ = 0;
};

}  // namespace

Statement assign_types(const Statement& statement, const std::map<std::string, TensorType>& tensors,
                       const std::set<std::string>& numbers) {
  Statement result = statement;
  result.value = TypeAssigner(statement, tensors, numbers).type(statement.value).expr;
  return result;
}

}  // namespace tulle::expr
