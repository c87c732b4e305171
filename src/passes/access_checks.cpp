// Walks an expression in evaluation order.
#include "passes/access_checks.h"

#include "loop/rewrite.h"
#include "support/check.h"
#include "support/mutant.h"

namespace tulle::passes {

using namespace loop;

namespace {

constexpr int64_t kBelowAll = -(int64_t{1} << 62);  // less than any index

Expr negation(const Expr& condition) { return Call::make(Function::Not, {condition}); }

// The scalar conditions under which an operand is evaluated, outermost first.
using Guards = std::vector<Expr>;

class LoadChecker {
 public:
  LoadChecker(const BufferSizes& sizes, std::vector<Stmt>& checks)
      : sizes_(sizes), checks_(checks) {}

  void walk(const Expr& expr, const Guards& guards) {
    if (const auto* binary = expr.as<Binary>()) return walk_binary(*binary, guards);
    if (const auto* select = expr.as<Select>()) return walk_select(*select, guards);
    for (const Expr& child : children_of(expr)) walk(child, guards);
    if (const auto* load = expr.as<Load>()) {
      check(load->buffer, load->index, load->predicate, guards);
    }
  }

  void check(const Buffer& buffer, const Expr& index, const Expr& predicate, const Guards& guards) {
    const auto size = sizes_.find(buffer->name);
    TULLE_CHECK(size != sizes_.end(), "the size of ", buffer->name);
    const int lanes = index.type().lanes;
    const Expr bound = Broadcast::make(size->second, lanes);
    const Expr below = index < IntConst::make(0, index.type());
    const Expr above = mutant("checks-off-by-one") ? bound < index : bound <= index;
    Expr outside = Binary::make(BinaryOp::Or, below, above);
    if (predicate) outside = Binary::make(BinaryOp::And, predicate, outside);
    Expr worst = index;
    if (lanes > 1) {
      worst = VectorReduce::make(
          ReduceOp::Max, Select::make(outside, index, IntConst::make(kBelowAll, index.type())));
      outside = VectorReduce::make(ReduceOp::Or, outside);
    }
    Stmt check = If::make(
        outside, Invoke::make(RuntimeFunction::ReportOutOfBounds, buffer, {worst, size->second}));
    for (auto guard = guards.rbegin(); guard != guards.rend(); ++guard)
      check = If::make(*guard, check);
    checks_.push_back(check);
  }

 private:
  void walk_binary(const Binary& expr, const Guards& guards) {
    walk(expr.a, guards);
    const bool lazy = is_logical(expr.op) && !expr.type.is_vector();
    if (!lazy) return walk(expr.b, guards);
    walk(expr.b, extend(guards, expr.op == BinaryOp::And ? expr.a : negation(expr.a)));
  }

  void walk_select(const Select& expr, const Guards& guards) {
    walk(expr.condition, guards);
    const bool lazy = !expr.type.is_vector();
    walk(expr.yes, lazy ? extend(guards, expr.condition) : guards);
    walk(expr.no, lazy ? extend(guards, negation(expr.condition)) : guards);
  }

  static Guards extend(Guards guards, const Expr& condition) {
    guards.push_back(condition);
    return guards;
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
