// Arranging sums.
#include "plan/arrange_sums.h"

#include <algorithm>
#include <set>

#include "expr/absence.h"

namespace tulle::plan {

using expr::Access;
using expr::Binary;
using expr::Expr;
using expr::Reduce;
using Indices = std::set<std::string>;

namespace {

class Arranger {
 public:
  Arranger(const expr::Statement& statement,
           const std::function<bool(const std::string&)>& is_sparse,
           const std::function<std::string(const expr::Statement&)>& name)
      : is_sparse_(is_sparse), name_(name) {
    for (const Access* access : expr::accesses(statement.value)) {
      next_id_ = std::max(next_id_, access->id + 1);
    }
  }

  // `loops` are the indices of the loops around the expression; `top` says that it is the
  // statement's whole value.
  Expr arrange(const Expr& expr, const Indices& loops, bool top) {
    if (const auto* sum = expr.as<Reduce>()) return arrange_sum(expr, *sum, loops, top);
    if (const auto* binary = expr.as<Binary>()) {
      const Expr a = arrange(binary->a, loops, false);
      const Expr b = arrange(binary->b, loops, false);
      if (binary->op == expr::BinaryOp::Mul) {
        if (Expr joined = pull_out(expr.type(), a, b, loops, true)) return joined;
        if (Expr joined = pull_out(expr.type(), b, a, loops, false)) return joined;
      }
      return std::make_shared<const Binary>(expr.type(), binary->op, a, b);
    }
    return expr::with_children(expr,
                               [&](const Expr& child) { return arrange(child, loops, false); });
  }

  std::vector<expr::Statement> before;

 private:
  static bool has_sum(const Expr& expr) {
    if (expr.as<Reduce>()) return true;
    if (const auto* unary = expr.as<expr::Unary>()) return has_sum(unary->value);
    const auto* binary = expr.as<Binary>();
    return binary && (has_sum(binary->a) || has_sum(binary->b));
  }

  static bool varies_with_all(const Expr& expr, const Indices& loops) {
    const auto free = expr::free_indices(expr);
    const Indices used(free.begin(), free.end());
    return std::includes(used.begin(), used.end(), loops.begin(), loops.end());
  }

  // sum(R, x) * y as sum(R, x * y); null where that would repeat work.
  static Expr pull_out(DType type, const Expr& factor, const Expr& other, const Indices& loops,
                       bool first) {
    const auto* sum = factor.as<Reduce>();
    if (!sum || sum->type != type || has_sum(other) || !varies_with_all(factor, loops)) return {};
    const Expr a = first ? sum->body : other;
    const Expr b = first ? other : sum->body;
    const Expr product = std::make_shared<const Binary>(type, expr::BinaryOp::Mul, a, b);
    return std::make_shared<const Reduce>(type, sum->indices, product);
  }

  Expr arrange_sum(const Expr& expr, const Reduce& sum, const Indices& loops, bool top) {
    Indices inside = loops;
    inside.insert(sum.indices.begin(), sum.indices.end());
    Expr body = arrange(sum.body, inside, false);
    std::vector<std::string> indices = sum.indices;
    const auto* inner = body.as<Reduce>();
    if (inner && inner->type == sum.type) {
      indices.insert(indices.end(), inner->indices.begin(), inner->indices.end());
      body = Expr(inner->body);
    }
    const Expr arranged = std::make_shared<const Reduce>(expr.type(), indices, body);
    if (top || varies_with_all(arranged, loops)) return arranged;
    const std::vector<std::string> free = expr::free_indices(arranged);
    if (free.size() > 1 && !is_bounded(arranged)) return arranged;
    expr::Statement statement{{}, free, arranged};
    statement.tensor = name_(statement);
    before.push_back(statement);
    return Access::make(next_id_++, statement.tensor, free, expr.type());
  }

  // Whether nothing is left where the sparse operands have no entries.
  bool is_bounded(const Expr& expr) const {
    return expr::is_zero(
        expr::without(expr, [&](const Access& access) { return is_sparse_(access.tensor); }));
  }

  const std::function<bool(const std::string&)>& is_sparse_;
  const std::function<std::string(const expr::Statement&)>& name_;
  int next_id_ = 0;
};

}  // namespace

ArrangedStatement arrange_sums(const expr::Statement& statement,
                               const std::function<bool(const std::string& tensor)>& is_sparse,
                               const std::function<std::string(const expr::Statement&)>& name) {
  Arranger arranger(statement, is_sparse, name);
  expr::Statement arranged = statement;
  arranged.value =
      arranger.arrange(statement.value, {statement.indices.begin(), statement.indices.end()}, true);
  return {std::move(arranger.before), std::move(arranged)};
}

}  // namespace tulle::plan
