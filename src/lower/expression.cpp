// Values: index-notation expressions at a point of the iteration space.
#include "lower/kernel_lowering.h"
#include "support/check.h"

namespace tulle::lower {

using expr::ElementFunction;
using loop::Binary;
using loop::BinaryOp;
using loop::Call;
using loop::Cast;
using loop::Expr;
using loop::Function;
using loop::Load;

namespace {

Expr apply(ElementFunction function, const Expr& x) {
  const Expr zero = loop::constant(x.type(), 0);
  const bool integral = !x.type().is_float();
  switch (function) {
    case ElementFunction::Relu:
      return loop::maximum(x, zero);
    case ElementFunction::Square:
      return x * x;
    case ElementFunction::Sign: {  // 0 of NaN, as in torch
      if (x.type().is_bool()) return x;
      const Expr one = loop::constant(x.type(), 1);
      const Expr minus = loop::constant(x.type(), -1);
      return loop::Select::make(zero < x, one, loop::Select::make(x < zero, minus, zero));
    }
    case ElementFunction::Neg:
      return Call::make(Function::Neg, {x});
    case ElementFunction::Abs:
      return Call::make(Function::Abs, {x});
    case ElementFunction::Floor:
      return integral ? x : Call::make(Function::Floor, {x});
    case ElementFunction::Ceil:
      return integral ? x : Call::make(Function::Ceil, {x});
    case ElementFunction::Round:
      return integral ? x : Call::make(Function::Round, {x});
    case ElementFunction::Trunc:
      return integral ? x : Call::make(Function::Trunc, {x});
    case ElementFunction::Sqrt:
      return Call::make(Function::Sqrt, {x});
    case ElementFunction::Sin:
      return Call::make(Function::Sin, {x});
    case ElementFunction::Tan:
      return Call::make(Function::Tan, {x});
    case ElementFunction::Asin:
      return Call::make(Function::Asin, {x});
    case ElementFunction::Atan:
      return Call::make(Function::Atan, {x});
    case ElementFunction::Sinh:
      return Call::make(Function::Sinh, {x});
    case ElementFunction::Tanh:
      return Call::make(Function::Tanh, {x});
    case ElementFunction::Asinh:
      return Call::make(Function::Asinh, {x});
    case ElementFunction::Atanh:
      return Call::make(Function::Atanh, {x});
    case ElementFunction::Expm1:
      return Call::make(Function::Expm1, {x});
    case ElementFunction::Log1p:
      return Call::make(Function::Log1p, {x});
    case ElementFunction::Erf:
      return Call::make(Function::Erf, {x});
  }
  internal_error("an element function without code");
}

Expr combine(expr::BinaryOp op, const Expr& a, const Expr& b) {
  const bool logical = a.type().is_bool();
  switch (op) {
    case expr::BinaryOp::Add:
      return Binary::make(logical ? BinaryOp::Or : BinaryOp::Add, a, b);
    case expr::BinaryOp::Mul:
      return Binary::make(logical ? BinaryOp::And : BinaryOp::Mul, a, b);
    case expr::BinaryOp::Sub:
      return Binary::make(BinaryOp::Sub, a, b);
    case expr::BinaryOp::Div:
      return Binary::make(BinaryOp::Div, a, b);
  }
  internal_error("a binary operation without code");
}

}  // namespace

Expr KernelLowering::value_of(const expr::Expr& expr, const Scope& scope, Emitter& out) {
  const loop::Type type{expr.type(), 1};
  if (const auto* literal = expr.as<expr::Literal>()) {
    if (type.is_float()) return loop::FloatConst::make(literal->value, type);
    return loop::IntConst::make(static_cast<int64_t>(literal->value), type);
  }
  if (const auto* access = expr.as<expr::Access>()) return load(*access, scope, out);
  if (const auto* unary = expr.as<expr::Unary>()) {
    const Expr argument = Cast::make(type.scalar, value_of(unary->value, scope, out));
    return apply(unary->function, out.let("x", argument));
  }
  const auto* binary = expr.as<expr::Binary>();
  TULLE_CHECK(binary, "a sum inside an assignment");
  const Expr value = combine(binary->op, Cast::make(type.scalar, value_of(binary->a, scope, out)),
                             Cast::make(type.scalar, value_of(binary->b, scope, out)));
  if (binary->op != expr::BinaryOp::Div && binary->op != expr::BinaryOp::Mul) return value;
  const Expr exists = presence(expr);
  return exists.as<loop::IntConst>() ? value
                                     : loop::Select::make(exists, value, loop::constant(type, 0));
}

Expr KernelLowering::presence(const expr::Expr& expr) const {
  const Expr always = loop::IntConst::make(1, loop::kBool);
  if (const auto* access = expr.as<expr::Access>()) {
    const auto found = tensors_.find(access->tensor);
    return found != tensors_.end() && found->second.written ? found->second.written : always;
  }
  if (const auto* unary = expr.as<expr::Unary>()) return presence(unary->value);
  const auto* binary = expr.as<expr::Binary>();
  if (!binary) return always;
  const Expr a = presence(binary->a), b = presence(binary->b);
  switch (binary->op) {
    case expr::BinaryOp::Mul:
      return a.as<loop::IntConst>() ? b : b.as<loop::IntConst>() ? a : loop::both(a, b);
    case expr::BinaryOp::Div:
      return a;
    default:
      if (a.as<loop::IntConst>() || b.as<loop::IntConst>()) return always;
      return Binary::make(BinaryOp::Or, a, b);
  }
}

void KernelLowering::find_fixing(const expr::Expr& expr, bool fixes) {
  const std::function<bool(const expr::Expr&)> divides = [&](const expr::Expr& part) {
    if (const auto* unary = part.as<expr::Unary>()) return divides(unary->value);
    const auto* binary = part.as<expr::Binary>();
    return binary &&
           (binary->op == expr::BinaryOp::Div || divides(binary->a) || divides(binary->b));
  };
  if (const auto* access = expr.as<expr::Access>()) {
    if (fixes && nest_.tensor(access->tensor).role == nest::Tensor::Role::Workspace)
      fixing_.insert(access->tensor);
  } else if (const auto* unary = expr.as<expr::Unary>()) {
    find_fixing(unary->value, fixes);
  } else if (const auto* binary = expr.as<expr::Binary>()) {
    const bool quotient = binary->op == expr::BinaryOp::Div,
               product = binary->op == expr::BinaryOp::Mul;
    find_fixing(binary->a, fixes || quotient || (product && divides(binary->b)));
    find_fixing(binary->b, fixes || (product && divides(binary->a)));
  }
}

Expr KernelLowering::load(const expr::Access& access, const Scope& scope, Emitter& out) {
  const TensorCode& tensor = code(access.tensor);
  if (const auto known = scope.values.find(access.id); known != scope.values.end())
    return known->second;
  if (tensor.scalar) return tensor.scalar;
  const Cursor& cursor = scope.cursors.at(access.id);
  TULLE_CHECK(cursor.level == static_cast<int>(tensor.levels.size()), "level ", cursor.level,
              " of ", access.tensor, " is not fixed where its value is read");
  if (cursor.at.is_single()) {
    const Expr value = out.let(
        access.tensor + "_value",
        Load::make(tensor.values, tensor.base ? tensor.base + cursor.at.begin : cursor.at.begin));
    const auto mask = scope.masks.find(access.id);
    return mask == scope.masks.end()
               ? value
               : loop::Select::make(mask->second, value, loop::constant(value.type(), 0));
  }
  // Entries at the same coordinates mean their sum.
  const loop::Type type{tensor.values->element, 1};
  const Expr sum = out.declare(access.tensor + "_sum", loop::constant(type, 0));
  const std::string variable = names_.fresh("q");
  const Expr term = Load::make(tensor.values, loop::Var::make(variable));
  Emitter body = out.nested();
  body.assign(sum, Binary::make(type.is_bool() ? BinaryOp::Or : BinaryOp::Add, sum, term));
  out.add(loop::For::make(variable, cursor.at.begin, cursor.at.end, body.take()));
  return sum;
}

}  // namespace tulle::lower
