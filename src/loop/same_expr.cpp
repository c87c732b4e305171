// Compares expressions.
#include <cmath>

#include "loop/expr.h"

namespace tulle::loop {

namespace {

// 0 and -0 differ; all NaNs are equal.
bool same_number(double a, double b) {
  return std::isnan(a) ? std::isnan(b) : a == b && std::signbit(a) == std::signbit(b);
}

bool same_all(const std::vector<Expr>& a, const std::vector<Expr>& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (!same(a[i], b[i])) return false;
  }
  return true;
}

}  // namespace

bool same(const Expr& a, const Expr& b) {
  if (a.get() == b.get()) return true;
  if (!a || !b || a->kind != b->kind || a.type() != b.type()) return false;
  switch (a->kind) {
    case ExprKind::IntConst:
      return a.as<IntConst>()->value == b.as<IntConst>()->value;
    case ExprKind::FloatConst:
      return same_number(a.as<FloatConst>()->value, b.as<FloatConst>()->value);
    case ExprKind::Var:
      return a.as<Var>()->name == b.as<Var>()->name;
    case ExprKind::Binary: {
      const auto *x = a.as<Binary>(), *y = b.as<Binary>();
      return x->op == y->op && same(x->a, y->a) && same(x->b, y->b);
    }
    case ExprKind::Select: {
      const auto *x = a.as<Select>(), *y = b.as<Select>();
      return same(x->condition, y->condition) && same(x->yes, y->yes) && same(x->no, y->no);
    }
    case ExprKind::Cast:
      return same(a.as<Cast>()->value, b.as<Cast>()->value);
    case ExprKind::Call: {
      const auto *x = a.as<Call>(), *y = b.as<Call>();
      return x->function == y->function && same_all(x->args, y->args);
    }
    case ExprKind::Load: {
      const auto *x = a.as<Load>(), *y = b.as<Load>();
      return x->buffer->name == y->buffer->name && same(x->index, y->index) &&
             same(x->predicate, y->predicate);
    }
    case ExprKind::Ramp:
      return same(a.as<Ramp>()->base, b.as<Ramp>()->base) &&
             same(a.as<Ramp>()->stride, b.as<Ramp>()->stride);
    case ExprKind::Broadcast:
      return same(a.as<Broadcast>()->value, b.as<Broadcast>()->value);
    case ExprKind::VectorReduce:
      return a.as<VectorReduce>()->op == b.as<VectorReduce>()->op &&
             same(a.as<VectorReduce>()->value, b.as<VectorReduce>()->value);
    case ExprKind::LaneReduce: {
      const auto *x = a.as<LaneReduce>(), *y = b.as<LaneReduce>();
      return x->op == y->op && x->width == y->width && same(x->value, y->value);
    }
    case ExprKind::LaneShuffle: {
      const auto *x = a.as<LaneShuffle>(), *y = b.as<LaneShuffle>();
      return x->mode == y->mode && x->width == y->width && same(x->value, y->value) &&
             same(x->lane, y->lane);
    }
  }
  return false;
}

}  // namespace tulle::loop
