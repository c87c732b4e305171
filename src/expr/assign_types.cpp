// The typing rules of each node.
#include "expr/assign_types.h"

#include <cmath>
#include <cstdint>

#include "expr/print.h"
#include "expr/scalar.h"
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

// The result type of a reduction of values of this type.
DType reduced_type(Reduction op, DType type) {
  switch (op) {
    case Reduction::Mean:
    case Reduction::LogSumExp:
      return as_float(type);
    case Reduction::ArgMax:
    case Reduction::ArgMin:
      return DType::Int64;
    default:
      return type;
  }
}

class TypeAssigner {
 public:
  TypeAssigner(const Statement& statement, const std::map<std::string, TensorType>& tensors,
               const std::set<std::string>& numbers, const std::set<std::string>& strong)
      : statement_(statement), tensors_(tensors), numbers_(numbers), strong_(strong) {}

  Typed type(const Expr& expr) {
    const Typed found = type_bare(expr);
    return {placed(found.expr, expr->place), found.strength};
  }

 private:
  // The typed node, without its source place.
  Typed type_bare(const Expr& expr) {
    if (const auto* literal = expr.as<Literal>()) {
      const DType type = literal->type == DType::Bool ? DType::Bool
                         : literal->is_integer        ? DType::Int64
                                                      : DType::Float32;
      return {Literal::make(literal->value, literal->is_integer, type), Strength::Number};
    }
    if (const auto* access = expr.as<Access>()) return type_access(*access);
    if (const auto* unary = expr.as<Unary>()) return type_unary(*unary);
    if (const auto* binary = expr.as<Binary>()) return type_binary(*binary);
    if (const auto* choose = expr.as<Choose>()) return type_choose(*choose);
    if (expr.as<IndexValue>()) return {expr, Strength::Scalar};
    if (const auto* softmax = expr.as<Softmax>()) {
      const Typed body = type(softmax->body);
      return {Softmax::make(softmax->index, body.expr, softmax->is_log), body.strength};
    }
    const auto* reduce = expr.as<Reduce>();
    const Typed body = type(reduce->body);
    const DType result = reduced_type(reduce->op, body.expr.type());
    return {
        Reduce::make(reduce->op, reduce->indices, body.expr, reduce->stored, reduce->empty, result),
        body.strength};
  }

  Typed type_choose(const Choose& choose) {
    const Typed condition = type(choose.condition);
    const Typed yes = type(choose.yes);
    const Typed no = type(choose.no);
    const auto [type, strength] =
        promote({yes.expr.type(), yes.strength}, {no.expr.type(), no.strength});
    return {Choose::make(condition.expr, converted(yes.expr, type), converted(no.expr, type), type),
            strength};
  }

  Typed type_access(const Access& access) {
    const bool is_scalar = access.indices.empty() && !strong_.contains(access.tensor);
    const Strength strength = numbers_.contains(access.tensor) ? Strength::Number
                              : is_scalar                      ? Strength::Scalar
                                                               : Strength::Tensor;
    const DType type = tensors_.at(access.tensor).type;
    const auto [known, is_new] = ids_.try_emplace({access.tensor, access.indices}, next_id_);
    if (is_new) ++next_id_;
    return {Access::make(known->second, access.tensor, access.indices, type), strength};
  }

  Typed type_unary(const Unary& unary) {
    const Typed value = type(unary.value);
    DType type = value.expr.type();
    if (is_of_entries(unary.function)) {
      return {Unary::make(unary.function, value.expr, DType::Int64), value.strength};
    }
    if (const Expr folded = fold(unary.function, value.expr)) return {folded, Strength::Number};
    if (!accepts_integers(unary.function)) {
      type = as_float(type);
    } else if (type == DType::Bool && unary.function == ElementFunction::Square) {
      type = DType::Int64;
    } else if (type == DType::Bool && unary.function != ElementFunction::Sign) {
      fail_in(statement_, &unary,
              concat("'", text_of(unary.function), "' is not defined for bool; convert its ",
                     "argument to another type first"));
    }
    return {Unary::make(unary.function, converted(value.expr, type), type), value.strength};
  }

  Typed type_binary(const Binary& binary) {
    const Typed a = type(binary.a);
    const Typed b = type(binary.b);
    if (binary.op == BinaryOp::Within) {
      return {Binary::make(binary.op, a.expr, b.expr, b.expr.type()), b.strength};
    }
    if (const Expr folded = fold(binary.op, a.expr, b.expr)) return {folded, Strength::Number};
    if (binary.op == BinaryOp::Sub &&
        (a.expr.type() == DType::Bool || b.expr.type() == DType::Bool)) {
      fail_in(statement_, a.expr.type() == DType::Bool ? a.expr.get() : b.expr.get(),
              "'-' is not defined for bool, and this is bool; convert it to another type first");
    }
    auto [type, strength] = promote({a.expr.type(), a.strength}, {b.expr.type(), b.strength});
    if (binary.op == BinaryOp::Div) type = as_float(type);
    return {Binary::make(binary.op, converted(a.expr, type), converted(b.expr, type), type),
            strength};
  }

  // Folds an operation on two literals as Python computes it; null if an operand is no literal or
  // the result is not exact.
  static Expr fold(BinaryOp op, const Expr& a, const Expr& b) {
    const auto* x = a.as<Literal>();
    const auto* y = b.as<Literal>();
    if (x == nullptr || y == nullptr) return {};
    return number(apply(op, real(*x), real(*y)).real,
                  x->is_integer && y->is_integer && op != BinaryOp::Div);
  }
  // The same for a function.
  static Expr fold(ElementFunction function, const Expr& a) {
    const auto* x = a.as<Literal>();
    if (x == nullptr || x->type == DType::Bool) return {};
    return number(apply(function, real(*x)).real, x->is_integer && accepts_integers(function));
  }

  static Scalar real(const Literal& literal) { return make_real(DType::Float64, literal.value); }
  static Expr number(double value, bool is_integer) {
    constexpr double exact = 9007199254740992.0;  // 2^53
    if (!std::isfinite(value) || (is_integer && std::abs(value) > exact)) return {};
    // Integers have one zero.
    return is_integer ? Literal::make(value + 0.0, true, DType::Int64)
                      : Literal::make(value, false, DType::Float32);
  }

  // A literal takes the type of the operation, wrapped like an integer of that type. The operation
  // itself converts other operands.
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
  const std::set<std::string>& strong_;
  std::map<std::pair<std::string, std::vector<std::string>>, int> ids_;  // of accesses
  int next_id_ = 0;
};

}  // namespace

Statement assign_types(const Statement& statement, const std::map<std::string, TensorType>& tensors,
                       const std::set<std::string>& numbers, const std::set<std::string>& strong) {
  Statement result = statement;
  result.value = TypeAssigner(statement, tensors, numbers, strong).type(statement.value).expr;
  return result;
}

}  // namespace tulle::expr
