// Finds the tensors over whose parts a value is a sum, product, maximum or minimum.
#include "plan/rewrite/additive.h"

#include <algorithm>

#include "expr/absence.h"
#include "expr/padding.h"
#include "plan/rewrite/tells_zeros.h"
#include "support/mutant.h"

namespace tulle::plan {

using expr::Access;
using expr::Binary;
using expr::BinaryOp;
using expr::Expr;

namespace {

bool is_number(const Expr& expr) {
  const auto* literal = expr.as<expr::Literal>();
  return literal && literal->value != 0;
}

// Whether the reduction skips absent values. Then it also combines the results of parts.
bool skips_absent(const expr::Reduce& reduce) {
  using expr::Reduction;
  const bool puts_together =
      reduce.op == Reduction::Max || reduce.op == Reduction::Min || reduce.op == Reduction::Prod;
  return puts_together && reduce.stored && !reduce.empty && reduce.type != DType::Bool;
}

// How a value depends on one access.
class Dependence {
 public:
  Dependence(const Access& in, const std::function<bool(const std::string&)>& is_unbounded)
      : in_(in), is_unbounded_(is_unbounded) {}

  bool is_it(const Access& access) const { return same_access(access, in_); }

  bool is_additive(const Expr& expr) const {
    if (!reads(expr)) return false;
    if (is_pointwise(expr) && expr::is_zero(without_it(expr))) return true;
    const DType type = expr.type();
    if (const auto* reduce = expr.as<expr::Reduce>()) {
      return reduce->op == expr::Reduction::Sum && !reduce->empty &&
             is_additive_as(reduce->body, type);
    }
    if (const auto* unary = expr.as<expr::Unary>()) {
      const bool is_linear =
          unary->function == expr::ElementFunction::Neg || mutant("decompose-nonlinear");
      return is_linear && is_additive_as(unary->value, type);
    }
    const auto* binary = expr.as<Binary>();
    return binary && is_additive(*binary);
  }

  // Whether the value is a product, maximum or minimum over the entries of the tensor. A padding 0
  // would then be a term of every part.
  bool is_over_entries(const Expr& expr) const {
    const auto* reduce = expr.as<expr::Reduce>();
    return reduce && skips_absent(*reduce) && reads(reduce->body) && is_pointwise(reduce->body) &&
           expr::is_absent(without_it(reduce->body));
  }

 private:
  Expr without_it(const Expr& expr) const {
    return expr::without(expr, [&](const Access& access) { return is_it(access); });
  }

  // A converted sum is not additive: `or` of booleans, wrapped integers.
  bool is_additive_as(const Expr& part, DType type) const {
    return is_additive(part) && (part.type() == type || is_pointwise(part));
  }

  bool is_additive(const Binary& binary) const {
    switch (binary.op) {
      case BinaryOp::Add:
      case BinaryOp::Sub:
        return is_additive_as(binary.a, binary.type) && is_additive_as(binary.b, binary.type);
      case BinaryOp::Mul: {
        const bool first = reads(binary.a);
        const Expr &sum = first ? binary.a : binary.b, &factor = first ? binary.b : binary.a;
        // An infinite factor could give inf - inf.
        return !reads(factor) && !expr::may_be_infinite(factor, is_unbounded_) &&
               is_additive_as(sum, binary.type);
      }
      case BinaryOp::Div:
        return is_number(binary.b) && is_additive_as(binary.a, binary.type);
      case BinaryOp::Max:
      case BinaryOp::Min:
      case BinaryOp::Within:
        return false;
    }
    return false;
  }

  bool reads(const Expr& expr) const {
    const std::vector<const Access*> all = expr::accesses(expr);
    return std::any_of(all.begin(), all.end(),
                       [&](const Access* access) { return is_it(*access); });
  }

  // Whether each coordinate of the value depends on one entry of the access's tensor, so that at
  // most one part contributes.
  bool is_pointwise(const Expr& expr) const {
    if (!reads(expr)) return true;
    if (const auto* reduce = expr.as<expr::Reduce>()) {
      const auto& over = reduce->indices;
      const bool binds =
          std::any_of(in_.indices.begin(), in_.indices.end(), [&](const std::string& index) {
            return std::find(over.begin(), over.end(), index) != over.end();
          });
      if (binds) return false;
    }
    if (expr.as<expr::Softmax>()) return false;
    const std::vector<Expr> parts = expr::children(expr);
    return std::all_of(parts.begin(), parts.end(),
                       [&](const Expr& part) { return is_pointwise(part); });
  }

  const Access& in_;
  const std::function<bool(const std::string&)>& is_unbounded_;
};

bool stores_padding(const std::vector<PartOfOperand>& parts) {
  return std::any_of(parts.begin(), parts.end(), [](const PartOfOperand& part) {
    return expr::stores_padding(part.type.format);
  });
}

}  // namespace

expr::Reduction reduction_over_parts(const Expr& value) {
  const auto* reduce = value.as<expr::Reduce>();
  return reduce && skips_absent(*reduce) ? reduce->op : expr::Reduction::Sum;
}

bool same_access(const Access& a, const Access& b) {
  return a.tensor == b.tensor && a.indices == b.indices;
}

const Access* access_by_parts(const Expr& value, const expr::ResolvedProgram& program,
                              const Composites& composites) {
  const std::function<bool(const std::string&)> is_unbounded = [&](const std::string& tensor) {
    return program.tensors.at(tensor).unbounded;
  };
  for (const Access* access : expr::accesses(value)) {
    const auto composite = composites.find(access->tensor);
    if (composite == composites.end()) continue;
    const Dependence dependence(*access, is_unbounded);
    if (!dependence.is_additive(value) && !dependence.is_over_entries(value)) continue;
    const std::function<bool(const Access&)> is_it = [&](const Access& other) {
      return dependence.is_it(other);
    };
    const bool pads = stores_padding(composite->second) && !mutant("decompose-shows-padding");
    if (!pads || !tells_zeros(value, is_it, is_unbounded)) return access;
  }
  return nullptr;
}

}  // namespace tulle::plan
