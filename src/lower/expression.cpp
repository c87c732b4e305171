// Values: index-notation expressions at a point of the iteration space.
#include <algorithm>

#include "expr/absence.h"
#include "lower/kernel_lowering.h"
#include "support/check.h"
#include "support/half.h"

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
    case ElementFunction::Relu:  // NaN and -0 stay
      return loop::Select::make(x < zero, zero, x);
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
    case ElementFunction::Exp:
      return Call::make(Function::Exp, {x});
    case ElementFunction::Log:
      return Call::make(Function::Log, {x});
    case ElementFunction::Cos:
      return Call::make(Function::Cos, {x});
    case ElementFunction::Cosh:
      return Call::make(Function::Cosh, {x});
    case ElementFunction::Sigmoid:
      return Call::make(Function::Sigmoid, {x});
    case ElementFunction::Ones:
    case ElementFunction::Position:
      break;
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
    case expr::BinaryOp::Max:
      return Binary::make(logical ? BinaryOp::Or : BinaryOp::Max, a, b);
    case expr::BinaryOp::Min:
      return Binary::make(logical ? BinaryOp::And : BinaryOp::Min, a, b);
    case expr::BinaryOp::Within:
      return b;
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
  if (const auto* choose = expr.as<expr::Choose>()) return choice_of(*choose, scope, out);
  if (const auto* index = expr.as<expr::IndexValue>()) {
    return index->is_extent ? coordinates_.extent(index->index)
                            : coordinates_.coordinate(index->index, scope);
  }
  if (const auto* unary = expr.as<expr::Unary>()) {
    if (unary->function == ElementFunction::Ones) {
      const Expr one = loop::IntConst::make(1, type), zero = loop::IntConst::make(0, type);
      const Expr exists = presence(unary->value);
      return exists.as<loop::IntConst>() ? one : loop::Select::make(exists, one, zero);
    }
    if (unary->function == ElementFunction::Position) {
      const Cursor& cursor = scope.cursors.at(unary->value.as<expr::Access>()->id);
      TULLE_CHECK(cursor.level == static_cast<int>(code(cursor.access->tensor).levels.size()) &&
                      cursor.at.is_single(),
                  "an entry of ", cursor.access->tensor, " whose position is asked for");
      return cursor.at.begin;
    }
    const Expr argument = Cast::make(type.scalar, value_of(unary->value, scope, out));
    return apply(unary->function, out.let("x", argument));
  }
  const auto* binary = expr.as<expr::Binary>();
  TULLE_CHECK(binary, "a sum inside an assignment");
  const bool masks = binary->op == expr::BinaryOp::Within;
  Expr second = Cast::make(type.scalar, value_of(binary->b, scope, out));
  if (binary->op == expr::BinaryOp::Div) {
    // What is absent is +0 in a denominator, also under a minus.
    const Expr exists = presence(binary->b);
    if (!exists.as<loop::IntConst>())
      second = loop::Select::make(exists, second, loop::constant(type, 0));
  }
  const Expr value =
      masks ? second
            : combine(binary->op, Cast::make(type.scalar, value_of(binary->a, scope, out)), second);
  const bool may_be_absent =
      masks || binary->op == expr::BinaryOp::Div || binary->op == expr::BinaryOp::Mul;
  if (!may_be_absent) return value;
  const Expr exists = presence(expr);
  return exists.as<loop::IntConst>() ? value
                                     : loop::Select::make(exists, value, loop::constant(type, 0));
}

Expr KernelLowering::choice_of(const expr::Choose& choose, const Scope& scope, Emitter& out) {
  const Expr condition = value_of(choose.condition, scope, out);
  const Expr yes = Cast::make(choose.type, value_of(choose.yes, scope, out));
  const Expr no = Cast::make(choose.type, value_of(choose.no, scope, out));
  const bool is_bool = condition.type().is_bool();
  const Expr holds = is_bool ? condition : condition != loop::constant(condition.type(), 0);
  return loop::Select::make(holds, yes, no);
}

Expr KernelLowering::presence(const expr::Expr& expr) const {
  const Expr always = loop::IntConst::make(1, loop::kBool);
  if (expr::is_absent(expr)) return loop::IntConst::make(0, loop::kBool);
  if (const auto* access = expr.as<expr::Access>()) {
    const auto found = tensors_.find(access->tensor);
    return found != tensors_.end() && found->second.written ? found->second.written : always;
  }
  if (const auto* index = expr.as<expr::IndexValue>(); index && index->is_extent) {
    // An index without coordinates has nothing, whatever is said of it.
    const Expr extent = coordinates_.extent(index->index);
    const auto* known = extent.as<loop::IntConst>();
    return known && known->value > 0 ? always
                                     : Binary::make(BinaryOp::Lt, loop::IntConst::make(0), extent);
  }
  if (const auto* unary = expr.as<expr::Unary>())
    return keeps_zero(unary->function) ? presence(unary->value) : always;
  const auto either = [](const Expr& a, const Expr& b) {
    if (const auto* known = a.as<loop::IntConst>()) return known->value ? a : b;
    if (const auto* known = b.as<loop::IntConst>()) return known->value ? b : a;
    return Binary::make(BinaryOp::Or, a, b);
  };
  if (const auto* choose = expr.as<expr::Choose>()) {
    const Expr condition = presence(choose->condition), no = presence(choose->no);
    const Expr any = either(presence(choose->yes), no);
    return condition.as<loop::IntConst>() ? any : loop::Select::make(condition, any, no);
  }
  const auto* binary = expr.as<expr::Binary>();
  if (!binary) return always;
  const Expr a = presence(binary->a), b = presence(binary->b);
  switch (binary->op) {
    case expr::BinaryOp::Mul:
      return a.as<loop::IntConst>() ? b : b.as<loop::IntConst>() ? a : loop::both(a, b);
    case expr::BinaryOp::Div:
    case expr::BinaryOp::Within:
      return a;
    default:
      return either(a, b);
  }
}

Expr KernelLowering::load(const expr::Access& access, const Scope& scope, Emitter& out) {
  const TensorCode& tensor = code(access.tensor);
  if (const auto known = scope.values.find(access.id); known != scope.values.end())
    return known->second;
  if (const auto partner = scope.partners.find(access.id); partner != scope.partners.end()) {
    Scope own = scope;
    own.partners.erase(access.id);
    return out.let("other", loop::LaneShuffle::make(loop::ShuffleMode::Xor, load(access, own, out),
                                                    loop::IntConst::make(partner->second.distance),
                                                    partner->second.width));
  }
  if (tensor.scalar) return Cast::make(compute_type(tensor.scalar.type().scalar), tensor.scalar);
  const Cursor& cursor = scope.cursors.at(access.id);
  TULLE_CHECK(cursor.level == static_cast<int>(tensor.levels.size()), "level ", cursor.level,
              " of ", access.tensor, " is not fixed where its value is read");
  const DType type = compute_type(tensor.values->element);
  const auto read = [&](const Expr& at) { return Cast::make(type, Load::make(tensor.values, at)); };
  if (cursor.at.is_single()) {
    const Expr at = tensor.base ? tensor.base + cursor.at.begin : cursor.at.begin;
    const Expr value = out.let(access.tensor + "_value", read(at));
    const auto mask = scope.masks.find(access.id);
    return mask == scope.masks.end()
               ? value
               : loop::Select::make(mask->second, value, loop::constant(value.type(), 0));
  }
  // Entries at the same coordinates mean their sum.
  const Expr sum = out.declare(access.tensor + "_sum", loop::constant({type, 1}, 0));
  const std::string variable = names_.fresh("q");
  const Expr term = read(loop::Var::make(variable));
  Emitter body = out.nested();
  body.assign(sum, Binary::make(type == DType::Bool ? BinaryOp::Or : BinaryOp::Add, sum, term));
  out.add(loop::For::make(variable, cursor.at.begin, cursor.at.end, body.take()));
  return sum;
}

}  // namespace tulle::lower
