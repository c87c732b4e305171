// Constructors of expressions. They check types and fold constants.
#include "loop/expr.h"

#include <optional>

#include "loop/arithmetic.h"
#include "support/check.h"
#include "support/half.h"

namespace tulle::loop {

std::string to_string(Type type) {
  std::string text(name_of(type.scalar));
  return type.lanes == 1 ? text : concat(text, "x", type.lanes);
}

std::string_view text_of(BinaryOp op) {
  switch (op) {
#define X(name, text)  \
  case BinaryOp::name: \
    return text;
    TULLE_LOOP_BINARY_OPS(X)
#undef X
  }
  return "?";
}

std::string_view text_of(Function function) {
  switch (function) {
#define X(name, text, arguments) \
  case Function::name:           \
    return text;
    TULLE_LOOP_FUNCTIONS(X)
#undef X
  }
  return "?";
}

int arguments_of(Function function) {
  switch (function) {
#define X(name, text, arguments) \
  case Function::name:           \
    return arguments;
    TULLE_LOOP_FUNCTIONS(X)
#undef X
  }
  return 0;
}

std::string_view text_of(ReduceOp op) {
  constexpr std::string_view names[] = {"add", "mul", "min", "max", "and", "or"};
  return names[static_cast<int>(op)];
}

std::string_view text_of(Space space) {
  constexpr std::string_view names[] = {"global", "shared", "local", "workspace"};
  return names[static_cast<int>(space)];
}

std::string_view text_of(ShuffleMode mode) {
  constexpr std::string_view names[] = {"index", "xor", "up", "down"};
  return names[static_cast<int>(mode)];
}

bool is_comparison(BinaryOp op) { return op >= BinaryOp::Eq && op <= BinaryOp::Ge; }
bool is_logical(BinaryOp op) { return op == BinaryOp::And || op == BinaryOp::Or; }

Buffer make_buffer(std::string name, DType element, Space space) {
  return std::make_shared<const BufferNode>(BufferNode{std::move(name), element, space});
}

Expr IntConst::make(int64_t value, Type type) {
  TULLE_CHECK(!type.is_float(), "an integer constant of type ", to_string(type));
  if (type.is_vector()) return Broadcast::make(make(value, type.with_lanes(1)), type.lanes);
  return std::make_shared<const IntConst>(type, value);
}

Expr FloatConst::make(double value, Type type) {
  TULLE_CHECK(type.is_float(), "a floating-point constant of type ", to_string(type));
  if (type.is_vector()) return Broadcast::make(make(value, type.with_lanes(1)), type.lanes);
  if (type.scalar == DType::Float32) value = static_cast<double>(static_cast<float>(value));
  if (is_half(type.scalar)) value = round_to_half(type.scalar, value);
  return std::make_shared<const FloatConst>(type, value);
}

Expr Var::make(std::string name, Type type) {
  return std::make_shared<const Var>(type, std::move(name));
}

namespace {

// Folds constants of type i64 or bool. Operations that trap or differ between targets are not
// folded.
std::optional<int64_t> fold(BinaryOp op, Type type, int64_t a, int64_t b) {
  const bool divides = op == BinaryOp::Div || op == BinaryOp::Mod;
  const bool shifts = op == BinaryOp::Shl || op == BinaryOp::Shr;
  if ((divides && b <= 0) || (shifts && (b < 0 || b >= 32))) return std::nullopt;
  if (is_comparison(op)) return compare(op, a, b);
  return type.is_bool() ? compute(op, a != 0, b != 0) : compute(op, a, b);
}

// Folds neutral and absorbing constants of 64-bit integers and bools; null if nothing folds.
Expr fold_identity(BinaryOp op, const Expr& a, const Expr& b) {
  switch (op) {
    case BinaryOp::Add:
      if (is_constant(a, 0)) return b;
      if (is_constant(b, 0)) return a;
      break;
    case BinaryOp::Sub:
      if (is_constant(b, 0)) return a;
      break;
    case BinaryOp::Mul:
      if (is_constant(a, 1)) return b;
      if (is_constant(b, 1)) return a;
      if (is_constant(a, 0)) return a;
      if (is_constant(b, 0)) return b;
      break;
    case BinaryOp::Div:
      if (is_constant(b, 1)) return a;
      break;
    case BinaryOp::Mod:
      if (is_constant(b, 1)) return IntConst::make(0, a.type());
      break;
    case BinaryOp::And:
      if (is_constant(a, 1)) return b;
      if (is_constant(b, 1)) return a;
      if (is_constant(a, 0)) return a;
      if (is_constant(b, 0)) return b;
      break;
    case BinaryOp::Or:
      if (is_constant(a, 0)) return b;
      if (is_constant(b, 0)) return a;
      if (is_constant(a, 1)) return a;
      if (is_constant(b, 1)) return b;
      break;
    default:
      break;
  }
  return {};
}

}  // namespace

Expr Binary::make(BinaryOp op, Expr a, Expr b) {
  TULLE_CHECK(a.get() && b.get());
  TULLE_CHECK(a.type() == b.type(), to_string(a.type()), " ", text_of(op), " ",
              to_string(b.type()));
  TULLE_CHECK(!is_logical(op) || a.type().is_bool(), text_of(op), " of ", to_string(a.type()));
  const bool gives_bool = is_comparison(op) || is_logical(op);
  const Type type = gives_bool ? kBool.with_lanes(a.type().lanes) : a.type();
  const auto* x = a.as<IntConst>();
  const auto* y = b.as<IntConst>();
  const bool foldable = a.type() == kIndex || a.type() == kBool;
  if (x && y && foldable) {
    if (const auto value = fold(op, a.type(), x->value, y->value))
      return IntConst::make(*value, type);
  }
  if (foldable) {
    if (Expr folded = fold_identity(op, a, b)) return folded;
  }
  return std::make_shared<const Binary>(type, op, std::move(a), std::move(b));
}

Expr Select::make(Expr condition, Expr yes, Expr no) {
  TULLE_CHECK(condition.type().is_bool() && yes.type() == no.type());
  TULLE_CHECK(condition.type().lanes == yes.type().lanes);
  if (is_constant(condition, 1)) return yes;
  if (is_constant(condition, 0)) return no;
  const Type type = yes.type();
  return std::make_shared<const Select>(type, std::move(condition), std::move(yes), std::move(no));
}

Expr Cast::make(DType scalar, Expr value) {
  const Type type{scalar, value.type().lanes};
  if (type == value.type()) return value;
  if (const auto* c = value.as<IntConst>()) {
    if (type.is_float()) return FloatConst::make(static_cast<double>(c->value), type);
    if (scalar == DType::Int64) return IntConst::make(c->value, type);
  }
  const auto* select = value.as<Select>();
  if (select && type.is_float() && select->yes.as<IntConst>() && select->no.as<IntConst>())
    return Select::make(select->condition, make(scalar, select->yes), make(scalar, select->no));
  return std::make_shared<const Cast>(type, std::move(value));
}

Expr Call::make(Function function, std::vector<Expr> args) {
  TULLE_CHECK(static_cast<int>(args.size()) == arguments_of(function), "arguments of ",
              text_of(function));
  const Type type = args[0].type();
  for (const Expr& arg : args) TULLE_CHECK(arg.type() == type, "arguments of ", text_of(function));
  return std::make_shared<const Call>(type, function, std::move(args));
}

Expr Load::make(Buffer buffer, Expr index, Expr predicate) {
  TULLE_CHECK(buffer, "a load of no buffer");
  TULLE_CHECK(index.type().scalar == DType::Int64, "an index into ", buffer->name);
  const Type type{buffer->element, index.type().lanes};
  TULLE_CHECK(!predicate || predicate.type() == kBool.with_lanes(type.lanes),
              "the predicate of a load");
  return std::make_shared<const Load>(type, std::move(buffer), std::move(index),
                                      std::move(predicate));
}

Expr Ramp::make(Expr base, Expr stride, int lanes) {
  TULLE_CHECK(lanes > 1 && base.type() == stride.type() && !base.type().is_vector());
  const Type type = base.type().with_lanes(lanes);
  return std::make_shared<const Ramp>(type, std::move(base), std::move(stride));
}

Expr Broadcast::make(Expr value, int lanes) {
  TULLE_CHECK(!value.type().is_vector());
  if (lanes == 1) return value;
  const Type type = value.type().with_lanes(lanes);
  return std::make_shared<const Broadcast>(type, std::move(value));
}

Expr VectorReduce::make(ReduceOp op, Expr value) {
  const Type type = value.type().with_lanes(1);
  return std::make_shared<const VectorReduce>(type, op, std::move(value));
}

Expr LaneReduce::make(ReduceOp op, Expr value, int width) {
  TULLE_CHECK(width > 0 && width <= 32 && (width & (width - 1)) == 0, "a lane group of ", width);
  const Type type = value.type();
  return std::make_shared<const LaneReduce>(type, op, std::move(value), width);
}

Expr LaneShuffle::make(ShuffleMode mode, Expr value, Expr lane, int width) {
  TULLE_CHECK(width > 0 && width <= 32 && (width & (width - 1)) == 0, "a lane group of ", width);
  const Type type = value.type();
  return std::make_shared<const LaneShuffle>(type, mode, std::move(value), std::move(lane), width);
}

Expr operator+(const Expr& a, const Expr& b) { return Binary::make(BinaryOp::Add, a, b); }
Expr operator-(const Expr& a, const Expr& b) { return Binary::make(BinaryOp::Sub, a, b); }
Expr operator*(const Expr& a, const Expr& b) { return Binary::make(BinaryOp::Mul, a, b); }
Expr operator+(const Expr& a, int64_t b) { return a + IntConst::make(b, a.type()); }
Expr operator-(const Expr& a, int64_t b) { return a - IntConst::make(b, a.type()); }
Expr operator*(const Expr& a, int64_t b) { return a * IntConst::make(b, a.type()); }
Expr operator<(const Expr& a, const Expr& b) { return Binary::make(BinaryOp::Lt, a, b); }
Expr operator<=(const Expr& a, const Expr& b) { return Binary::make(BinaryOp::Le, a, b); }
Expr operator==(const Expr& a, const Expr& b) { return Binary::make(BinaryOp::Eq, a, b); }
Expr operator!=(const Expr& a, const Expr& b) { return Binary::make(BinaryOp::Ne, a, b); }
Expr both(const Expr& a, const Expr& b) { return Binary::make(BinaryOp::And, a, b); }
Expr minimum(const Expr& a, const Expr& b) { return Binary::make(BinaryOp::Min, a, b); }
Expr maximum(const Expr& a, const Expr& b) { return Binary::make(BinaryOp::Max, a, b); }

Expr ceil_divide(const Expr& a, int64_t b) {
  if (b == 1) return a;
  return Binary::make(BinaryOp::Div, a + (b - 1), IntConst::make(b, a.type()));
}

Expr constant(Type type, double value) {
  return type.is_float() ? FloatConst::make(value, type)
                         : IntConst::make(static_cast<int64_t>(value), type);
}

bool is_constant(const Expr& expr, int64_t value) {
  const auto* c = expr.as<IntConst>();
  return c && c->value == value;
}

}  // namespace tulle::loop
