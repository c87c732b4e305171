// Rewrites softmax.
#include "plan/rewrite/expand_softmax.h"

#include <algorithm>

#include "expr/presence.h"
#include "expr/rename_indices.h"
#include "expr/walk.h"

namespace tulle::plan {

using expr::Access;
using expr::Binary;
using expr::BinaryOp;
using expr::Choose;
using expr::ElementFunction;
using expr::Expr;
using expr::Literal;
using expr::Reduce;
using expr::Reduction;
using expr::Softmax;
using expr::Unary;

namespace {

void collect_factors(const Expr& expr, std::vector<Expr>& factors) {
  const auto* binary = expr.as<Binary>();
  if (binary && binary->op == BinaryOp::Mul) {
    collect_factors(binary->a, factors);
    collect_factors(binary->b, factors);
  } else {
    factors.push_back(expr);
  }
}

bool has_softmax(const Expr& expr) {
  return expr::any_part(expr, [](const Expr& part) { return part.as<Softmax>() != nullptr; });
}

class Expansion {
 public:
  Expansion(const expr::Statement& statement, const SoftmaxContext& context)
      : context_(context), next_id_(expr::next_access_id(statement.value)) {}

  // Makes `expand` compute each softmax in a statement of its own.
  void store_weights() { stores_weights_ = true; }

  // A weighted sum of a softmax, computed in one pass. Null for any other value.
  Expr one_pass(const Expr& value) const {
    const auto* sum = value.as<Reduce>();
    if (!sum || sum->op != Reduction::Sum || sum->indices.size() != 1 || sum->empty) return {};
    std::vector<Expr> factors;
    collect_factors(sum->body, factors);
    const auto found = std::find_if(factors.begin(), factors.end(), [&](const Expr& factor) {
      const auto* softmax = factor.as<Softmax>();
      return softmax && !softmax->is_log && softmax->index == sum->indices[0];
    });
    if (found == factors.end()) return {};
    const Expr x = found->as<Softmax>()->body;
    factors.erase(found);
    const DType type = sum->type;
    Expr weighted;
    for (const Expr& factor : factors) {
      weighted = weighted ? Binary::make(BinaryOp::Mul, weighted, factor, type) : factor;
    }
    const Expr one = Literal::make(1, true, type);
    if (!weighted) weighted = one;
    if (has_softmax(weighted) || has_softmax(x) || !is_everywhere(weighted, context_.is_sparse))
      return {};
    auto total = [&](const Expr& term) {
      const Expr there =
          Binary::make(BinaryOp::Within, presence_of(x, context_.is_sparse), term, type);
      const Expr body = Binary::make(BinaryOp::Within, x, there, type);
      return Reduce::make(Reduction::ExpSum, sum->indices, body, true, std::nullopt, type);
    };
    const Expr top = Reduce::make(Reduction::Max, sum->indices, x, true, std::nullopt, type);
    const Expr weights = total(one);
    // One division for the whole weighted sum is safe, because the largest weight is 1, so the sum
    // of weights is at least 1.
    const Expr share = Binary::make(BinaryOp::Div, one, weights, type);
    const Expr quotient = Binary::make(BinaryOp::Mul, total(weighted), share, type);
    // With an infinite maximum, all weights are NaN.
    const Expr infinite = Binary::make(BinaryOp::Sub, top, top, type);
    return Choose::make(weights, Binary::make(BinaryOp::Add, quotient, infinite, type),
                        Literal::make(0, true, type), type);
  }

  Expr expand(const Expr& expr) {
    const Expr inside = expr::with_children(expr, [&](const Expr& child) { return expand(child); });
    const auto* softmax = inside.as<Softmax>();
    if (!softmax) return inside;
    const Expr value = two_passes(*softmax);
    return stores_weights_ ? computed_first(value, expr::free_indices(softmax->body)) : value;
  }

  std::vector<expr::Statement> before;

 private:
  // Adds a statement for the value. Returns an access to its result.
  Expr computed_first(const Expr& value, const std::vector<std::string>& indices) {
    expr::Statement part{{}, indices, value};
    part.tensor = context_.name(part);
    before.push_back(part);
    return Access::make(next_id_++, part.tensor, indices, value.type());
  }

  Expr two_passes(const Softmax& softmax) {
    const DType type = softmax.type;
    Expr x = softmax.body;
    if (expr::has_reduction(x)) {
      x = computed_first(x, expr::free_indices(x));
    }
    std::vector<std::string> rows = expr::free_indices(x);
    std::erase(rows, softmax.index);
    const std::string other = context_.same_extent(softmax.index);
    const Expr moved = with_index(x, softmax.index, other);
    const Expr top = computed_first(
        Reduce::make(Reduction::Max, {other}, moved, true, std::nullopt, type), rows);
    const Expr power = exponential(moved, top, type);
    // An empty sum is absent. Adding 0 makes it a value; nothing reads that of an empty row.
    const Expr sum = Binary::make(BinaryOp::Add, Reduce::make({other}, masked(moved, power)),
                                  Literal::make(0, true, type), type);
    const Expr total = computed_first(sum, rows);
    if (softmax.is_log) {
      const Expr shifted = Binary::make(BinaryOp::Sub, x, top, type);
      return masked(x, Binary::make(BinaryOp::Sub, shifted,
                                    Unary::make(ElementFunction::Log, total, type), type));
    }
    return masked(x, Binary::make(BinaryOp::Div, exponential(x, top, type), total, type));
  }

  static Expr exponential(const Expr& x, const Expr& top, DType type) {
    return Unary::make(ElementFunction::Exp, Binary::make(BinaryOp::Sub, x, top, type), type);
  }

  static Expr masked(const Expr& by, const Expr& value) {
    return Binary::make(BinaryOp::Within, by, value, value.type());
  }

  // Replaces an index in the expression and renumbers its accesses.
  Expr with_index(const Expr& expr, const std::string& from, const std::string& to) {
    const Expr renamed = renamed_indices(expr, {{from, to}});
    return expr::renumbered(renamed, next_id_);
  }

  const SoftmaxContext& context_;
  int next_id_;
  bool stores_weights_ = false;
};

}  // namespace

bool reduces_softmax(const expr::Statement& statement) {
  return expr::any_part(statement.value, [](const Expr& part) {
    const auto* reduce = part.as<Reduce>();
    return reduce && has_softmax(reduce->body);
  });
}

std::vector<expr::Statement> expand_softmax(expr::Statement& statement,
                                            const SoftmaxContext& context) {
  if (!has_softmax(statement.value)) return {};
  Expansion expansion(statement, context);
  if (context.stores_weights && reduces_softmax(statement)) {
    expansion.store_weights();
  } else if (context.is_dense) {
    if (const Expr value = expansion.one_pass(statement.value)) {
      statement.value = value;
      return {};
    }
  }
  statement.value = expansion.expand(statement.value);
  return std::move(expansion.before);
}

}  // namespace tulle::plan
