// Finds products that are operands of sums, bottom-up.
#include "passes/contract_fma.h"

#include "loop/rewrite.h"
#include "support/mutant.h"

namespace tulle::passes {

using namespace loop;

namespace {

Expr negate(const Expr& value) { return Call::make(Function::Neg, {value}); }

const Binary* as_product(const Expr& expr) {
  const auto* binary = expr.as<Binary>();
  return binary && binary->op == BinaryOp::Mul ? binary : nullptr;
}

// The sum or difference as an fma; null if neither operand is a product.
Expr contract(const Binary& sum) {
  const bool subtract = sum.op == BinaryOp::Sub;
  if (const Binary* product = as_product(sum.a)) {
    if (mutant("fma-wrong-operand"))
      return Call::make(Function::Fma, {product->a, sum.b, product->b});
    return Call::make(Function::Fma, {product->a, product->b, subtract ? negate(sum.b) : sum.b});
  }
  if (const Binary* product = as_product(sum.b)) {
    if (mutant("fma-wrong-sign")) return Call::make(Function::Fma, {product->a, product->b, sum.a});
    return Call::make(Function::Fma,
                      {subtract ? negate(product->a) : product->a, product->b, sum.a});
  }
  return {};
}

class Contraction : public Rewriter {
 public:
  using Rewriter::rewrite;
  Expr rewrite(const Expr& expr) override {
    Expr result = Rewriter::rewrite(expr);
    const auto* sum = result.as<Binary>();
    if (!sum || (sum->op != BinaryOp::Add && sum->op != BinaryOp::Sub)) return result;
    if (sum->type.scalar != DType::Float32 && sum->type.scalar != DType::Float64) return result;
    const Expr fused = contract(*sum);
    return fused ? fused : result;
  }
};

}  // namespace

Kernel contract_fma(Kernel kernel) {
  kernel.body = Contraction().rewrite(kernel.body);
  return kernel;
}

}  // namespace tulle::passes
