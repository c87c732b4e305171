// Decides whether expressions have a value if sums in them may have no terms.
#include "expr/absence.h"
#include "lower/values.h"

namespace tulle::lower {

using loop::Binary;
using loop::BinaryOp;
using loop::Expr;
using loop::IntConst;

namespace {

Expr always() { return IntConst::make(1, loop::kBool); }

Expr either(const Expr& a, const Expr& b) {
  if (const auto* known = a.as<IntConst>()) return known->value ? a : b;
  if (const auto* known = b.as<IntConst>()) return known->value ? b : a;
  return Binary::make(BinaryOp::Or, a, b);
}

Expr presence_of_access(const KernelContext& kernel, const expr::Access& access) {
  const auto found = kernel.tensors.find(access.tensor);
  return found != kernel.tensors.end() && found->second.written ? found->second.written : always();
}

// If the index has no coordinates, every sum over it is empty.
Expr presence_of_extent(const KernelContext& kernel, const expr::IndexValue& index) {
  const Expr extent = kernel.coordinates.extent(index.index);
  const auto* known = extent.as<IntConst>();
  return known && known->value > 0 ? always()
                                   : Binary::make(BinaryOp::Lt, IntConst::make(0), extent);
}

Expr presence_of_binary(const KernelContext& kernel, const expr::Binary& binary) {
  const Expr a = presence(kernel, binary.a), b = presence(kernel, binary.b);
  switch (binary.op) {
    case expr::BinaryOp::Mul:
      return a.as<IntConst>() ? b : b.as<IntConst>() ? a : loop::both(a, b);
    case expr::BinaryOp::Div:
    case expr::BinaryOp::Within:
      return a;
    default:
      return either(a, b);
  }
}

}  // namespace

Expr presence(const KernelContext& kernel, const expr::Expr& expr) {
  if (expr::is_absent(expr)) return IntConst::make(0, loop::kBool);
  if (const auto* access = expr.as<expr::Access>()) return presence_of_access(kernel, *access);
  if (const auto* index = expr.as<expr::IndexValue>(); index && index->is_extent)
    return presence_of_extent(kernel, *index);
  if (const auto* unary = expr.as<expr::Unary>())
    return keeps_zero(unary->function) ? presence(kernel, unary->value) : always();
  if (const auto* choose = expr.as<expr::Choose>()) {
    const Expr condition = presence(kernel, choose->condition), no = presence(kernel, choose->no);
    const Expr any = either(presence(kernel, choose->yes), no);
    return condition.as<IntConst>() ? any : loop::Select::make(condition, any, no);
  }
  const auto* binary = expr.as<expr::Binary>();
  return binary ? presence_of_binary(kernel, *binary) : always();
}

}  // namespace tulle::lower
