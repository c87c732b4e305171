// Walks an expression in the order of its evaluation.
#include "passes/access_checks.h"

#include "loop/rewrite.h"
#include "support/check.h"
#include "support/mutant.h"

namespace tulle::passes {

using namespace loop;

namespace {

constexpr int64_t kBelowAll = -(int64_t{1} << 62);  // below every index that can occur

Expr negation(const Expr& condition) { return Call::make(Function::Not, {condition}); }

class LoadChecker {
 public:
  LoadChecker(const BufferSizes& sizes, std::vector<Stmt>& checks)
      : sizes_(sizes), checks_(checks) {}

  // `guard`: the scalar condition under which the expression is evaluated; null for always.
  void walk(const Expr& expr, const Expr& guard) {
    switch (expr->kind) {
      case ExprKind::IntConst:
      case ExprKind::FloatConst:
      case ExprKind::Var:
        return;
      case ExprKind::Binary:
        return walk_binary(*expr.as<Binary>(), guard);
      case ExprKind::Select:
        return walk_select(*expr.as<Select>(), guard);
      case ExprKind::Cast:
        return walk(expr.as<Cast>()->value, guard);
      case ExprKind::Call:
        for (const Expr& arg : expr.as<Call>()->args) walk(arg, guard);
        return;
      case ExprKind::Load: {
        const auto* load = expr.as<Load>();
        walk(load->index, guard);
        if (load->predicate) walk(load->predicate, guard);
        return check(load->buffer, load->index, load->predicate, guard);
      }
      case ExprKind::Ramp:
        walk(expr.as<Ramp>()->base, guard);
        return walk(expr.as<Ramp>()->stride, guard);
      case ExprKind::Broadcast:
        return walk(expr.as<Broadcast>()->value, guard);
      case ExprKind::VectorReduce:
        return walk(expr.as<VectorReduce>()->value, guard);
      case ExprKind::LaneReduce:
        return walk(expr.as<LaneReduce>()->value, guard);
      case ExprKind::LaneShuffle:
        walk(expr.as<LaneShuffle>()->value, guard);
        return walk(expr.as<LaneShuffle>()->lane, guard);
    }
  }

  void check(const Buffer& buffer, const Expr& index, const Expr& predicate, const Expr& guard) {
    const auto size = sizes_.find(buffer->name);
    TULLE_CHECK(size != sizes_.end(), "the size of ", buffer->name);
    const int lanes = index.type().lanes;
    const Expr bound = Broadcast::make(size->second, lanes);
    Expr outside = index < IntConst::make(0, index.type()) || bound <= index;
    if (mutant("checks-off-by-one"))
      outside = index < IntConst::make(0, index.type()) || bound < index;
    if (predicate) outside = predicate && outside;
    Expr worst = index;
    if (lanes > 1) {
      worst = VectorReduce::make(
          ReduceOp::Max, Select::make(outside, index, IntConst::make(kBelowAll, index.type())));
      outside = VectorReduce::make(ReduceOp::Or, outside);
    }
    if (guard) outside = guard && outside;
    checks_.push_back(If::make(
        outside, Invoke::make(RuntimeFunction::ReportOutOfBounds, buffer, {worst, size->second})));
  }

 private:
  void walk_binary(const Binary& expr, const Expr& guard) {
    walk(expr.a, guard);
    const bool lazy = is_logical(expr.op) && !expr.type.is_vector();
    if (!lazy) return walk(expr.b, guard);
    walk(expr.b, extend(guard, expr.op == BinaryOp::And ? expr.a : negation(expr.a)));
  }

  void walk_select(const Select& expr, const Expr& guard) {
    walk(expr.condition, guard);
    const bool lazy = !expr.type.is_vector();
    walk(expr.yes, lazy ? extend(guard, expr.condition) : guard);
    walk(expr.no, lazy ? extend(guard, negation(expr.condition)) : guard);
  }

  static Expr extend(const Expr& guard, const Expr& condition) {
    if (!guard) return condition;
    return guard && condition;
  }

  const BufferSizes& sizes_;
  std::vector<Stmt>& checks_;
};

}  // namespace

void check_loads(const Expr& expr, const BufferSizes& sizes, std::vector<Stmt>& checks) {
  if (expr) LoadChecker(sizes, checks).walk(expr, {});
}

void check_access(const Buffer& buffer, const Expr& index, const Expr& predicate,
                  const BufferSizes& sizes, std::vector<Stmt>& checks) {
  LoadChecker(sizes, checks).check(buffer, index, predicate, {});
}

}  // namespace tulle::passes
