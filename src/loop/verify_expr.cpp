// Verifies names and types of expressions, node by node.
#include "loop/verify_expr.h"

#include <limits>

#include "loop/print.h"
#include "loop/rewrite.h"
#include "support/check.h"
#include "support/half.h"

namespace tulle::loop {

namespace {

template <typename... Parts>
void require(bool condition, const Expr& expr, const Parts&... parts) {
  if (!condition) internal_error(parts..., ": ", to_string(expr));
}

bool takes(BinaryOp op, DType type) {
  if (is_half(type)) return false;
  switch (op) {
    case BinaryOp::Sub:
    case BinaryOp::Div:
      return type != DType::Bool;
    case BinaryOp::Mod:
    case BinaryOp::Shl:
    case BinaryOp::Shr:
      return is_integer(type);
    case BinaryOp::BitAnd:
    case BinaryOp::BitOr:
    case BinaryOp::BitXor:
      return !is_float(type);
    case BinaryOp::And:
    case BinaryOp::Or:
      return type == DType::Bool;
    default:
      return true;
  }
}

bool takes(Function function, DType type) {
  if (is_half(type)) return false;
  switch (function) {
    case Function::Neg:
    case Function::Abs:
    case Function::Fma:
      return type != DType::Bool;
    case Function::Not:
      return !is_float(type);
    case Function::Exp2:
      return type == DType::Float32;
    default:
      return is_float(type);
  }
}

void check_constant(const Expr& expr) {
  const int64_t value = expr.as<IntConst>()->value;
  require(!expr.type().is_float() && !expr.type().is_vector(), expr,
          "a constant of the wrong type");
  require(!expr.type().is_bool() || value == 0 || value == 1, expr, "a bool must be 0 or 1");
  require(expr.type().scalar != DType::Int32 || value == static_cast<int32_t>(value), expr,
          "the value exceeds i32");
}

void check_load(const Expr& expr, const VerifierScope& scope) {
  const auto* node = expr.as<Load>();
  scope.find_buffer(node->buffer);
  const Type index = node->index.type();
  require(index.scalar == DType::Int64, expr, "an index of type ", to_string(index));
  require(expr.type() == Type{node->buffer->element, index.lanes}, expr, "a load of type ",
          to_string(expr.type()));
  require(!node->predicate || node->predicate.type() == kBool.with_lanes(index.lanes), expr,
          "a predicate of the wrong type");
}

void check_call(const Expr& expr) {
  const auto* node = expr.as<Call>();
  require(static_cast<int>(node->args.size()) == arguments_of(node->function), expr,
          "the wrong number of arguments");
  for (const Expr& arg : node->args)
    require(arg.type() == expr.type(), expr, "arguments of different types");
  require(takes(node->function, expr.type().scalar), expr, "not a function of ",
          to_string(expr.type()));
}

void check_cast(const Expr& expr) {
  const Type from = expr.as<Cast>()->value.type(), to = expr.type();
  require(from.lanes == to.lanes, expr, "a cast that changes the number of lanes");
  require(!is_half(to.scalar) || from.scalar == DType::Float32, expr, "narrowed from ",
          to_string(from), " and not from f32");
  require(!is_half(from.scalar) || to.scalar == DType::Float32, expr, "widened to ", to_string(to),
          " and not to f32");
}

void check_binary(const Expr& expr) {
  const auto* node = expr.as<Binary>();
  const Type type = node->a.type();
  require(type == node->b.type(), expr, to_string(type), " and ", to_string(node->b.type()), " in");
  require(takes(node->op, type.scalar), expr, "not an operator of ", to_string(type));
  const bool gives_bool = is_comparison(node->op) || is_logical(node->op);
  require(expr.type() == (gives_bool ? kBool.with_lanes(type.lanes) : type), expr,
          "the wrong type");
}

void check_shuffle(const Expr& expr) {
  const auto* node = expr.as<LaneShuffle>();
  const Type lane = node->lane.type();
  require(is_integer(lane.scalar) && !lane.is_vector(), expr, "a lane of type ", to_string(lane));
  require(!expr.type().is_vector(), expr, "a shuffle of vectors");
  require(!is_half(expr.type().scalar), expr, "a shuffle of ", to_string(expr.type()));
}

// Checks the node itself but not its operands.
void check_node(const Expr& expr, const VerifierScope& scope) {
  switch (expr->kind) {
    case ExprKind::IntConst:
      return check_constant(expr);
    case ExprKind::FloatConst:
      return require(expr.type().is_float() && !expr.type().is_vector(), expr, "the wrong type");
    case ExprKind::Var: {
      const VisibleName& declaration = scope.find(expr.as<Var>()->name);
      require(declaration.kind != NameKind::Buffer, expr, "a buffer used as a value");
      return require(declaration.type == expr.type(), expr, "declared as ",
                     to_string(declaration.type), ", used as ", to_string(expr.type()));
    }
    case ExprKind::Binary:
      return check_binary(expr);
    case ExprKind::Select: {
      const auto* node = expr.as<Select>();
      const Type condition = kBool.with_lanes(expr.type().lanes);
      return require(node->condition.type() == condition && node->yes.type() == expr.type() &&
                         node->no.type() == expr.type(),
                     expr, "types that do not match");
    }
    case ExprKind::Cast:
      return check_cast(expr);
    case ExprKind::Call:
      return check_call(expr);
    case ExprKind::Load:
      return check_load(expr, scope);
    case ExprKind::Ramp: {
      const auto* node = expr.as<Ramp>();
      const Type one = expr.type().with_lanes(1);
      return require(node->base.type() == one && node->stride.type() == one && !one.is_bool() &&
                         !is_half(one.scalar),
                     expr, "the wrong type");
    }
    case ExprKind::Broadcast:
      return require(expr.as<Broadcast>()->value.type() == expr.type().with_lanes(1), expr,
                     "the wrong type");
    case ExprKind::VectorReduce: {
      const auto* node = expr.as<VectorReduce>();
      require(node->value.type().is_vector(), expr, "a reduction of a scalar");
      return require(reduces(node->op, expr.type().scalar), expr, "not a reduction of ",
                     to_string(expr.type()));
    }
    case ExprKind::LaneReduce: {
      require(!expr.type().is_vector(), expr, "a reduction of vectors over lanes");
      return require(reduces(expr.as<LaneReduce>()->op, expr.type().scalar), expr,
                     "not a reduction of ", to_string(expr.type()));
    }
    case ExprKind::LaneShuffle:
      return check_shuffle(expr);
  }
}

}  // namespace

bool reduces(ReduceOp op, DType type) {
  if (is_half(type)) return false;
  return !is_float(type) || (op != ReduceOp::And && op != ReduceOp::Or);
}

void verify_expr(const Expr& expr, const VerifierScope& scope) {
  TULLE_CHECK(expr.get() != nullptr);
  visit(expr, [&](const Expr& inner) { check_node(inner, scope); });
}

void verify_expr(const Expr& expr, Type type, const VerifierScope& scope) {
  verify_expr(expr, scope);
  require(expr.type() == type, expr, "expected ", to_string(type), ", found ",
          to_string(expr.type()));
}

}  // namespace tulle::loop
