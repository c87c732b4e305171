// Moves sums inside a statement.
#include "plan/rewrite/arrange_sums.h"

#include <algorithm>
#include <set>
#include <utility>

#include "expr/absence.h"
#include "expr/walk.h"
#include "plan/rewrite/computed_before.h"

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
           const std::function<bool(const std::string&)>& is_unbounded,
           const std::function<bool(const std::string&)>& has_coordinates,
           const std::function<std::string(const expr::Statement&)>& name, bool keeps_outermost)
      : is_sparse_(is_sparse),
        is_unbounded_(is_unbounded),
        has_coordinates_(has_coordinates),
        name_(name),
        keeps_outermost_(keeps_outermost),
        next_id_(expr::next_access_id(statement.value)) {}

  // `loops` are the indices of the loops around the expression. `top`: it is the whole value of the
  // statement.
  Expr arrange(const Expr& expr, const Indices& loops, bool top) {
    if (const auto* sum = expr.as<Reduce>()) return arrange_sum(expr, *sum, loops, top);
    if (const auto* binary = expr.as<Binary>()) {
      const Expr a = arrange(binary->a, loops, false);
      const Expr b = arrange(binary->b, loops, false);
      if (binary->op == expr::BinaryOp::Mul && joins_) {
        if (Expr joined = pull_out(expr.type(), a, b, loops, true)) return joined;
        if (Expr joined = pull_out(expr.type(), b, a, loops, false)) return joined;
      }
      if (binary->op == expr::BinaryOp::Within && joins_) {
        if (Expr joined = sum_within(expr.type(), a, b, loops)) return joined;
      }
      return std::make_shared<const Binary>(expr.type(), binary->op, a, b);
    }
    return expr::with_children(expr,
                               [&](const Expr& child) { return arrange(child, loops, false); });
  }

  std::vector<expr::Statement> before;

 private:
  static bool varies_with_all(const Expr& expr, const Indices& loops) {
    const auto free = expr::free_indices(expr);
    const Indices used(free.begin(), free.end());
    return std::includes(used.begin(), used.end(), loops.begin(), loops.end());
  }

  // Rewrites sum(R, x) * y to sum(R, x * y). Null if that would repeat work or add infinities of
  // both signs.
  Expr pull_out(DType type, const Expr& factor, const Expr& other, const Indices& loops,
                bool first) const {
    const auto* sum = factor.as<Reduce>();
    if (!sum || sum->op != expr::Reduction::Sum || sum->type != type ||
        expr::has_reduction(other) || !varies_with_all(factor, loops) ||
        expr::may_be_infinite(other, is_unbounded_))
      return {};
    const Expr a = first ? sum->body : other;
    const Expr b = first ? other : sum->body;
    const Expr product = std::make_shared<const Binary>(type, expr::BinaryOp::Mul, a, b);
    return Reduce::make(sum->indices, product);
  }

  // Rewrites within(x, sum(R, y)) to sum(R, within(x, y)). Null if that would repeat work, or if an
  // empty sum, which is 0 within x, would become absent.
  Expr sum_within(DType type, const Expr& where, const Expr& what, const Indices& loops) const {
    const auto* sum = what.as<Reduce>();
    if (!sum || sum->op != expr::Reduction::Sum || sum->stored || sum->type != type ||
        expr::has_reduction(where) || !varies_with_all(what, loops))
      return {};
    const auto all = expr::accesses(sum->body);
    const bool adds_something =
        std::all_of(sum->indices.begin(), sum->indices.end(), has_coordinates_) &&
        std::none_of(all.begin(), all.end(),
                     [&](const Access* access) { return is_sparse_(access->tensor); });
    if (!adds_something) return {};
    return Reduce::make(sum->indices, std::make_shared<const Binary>(type, expr::BinaryOp::Within,
                                                                     where, sum->body));
  }

  Expr arrange_sum(const Expr& expr, const Reduce& sum, const Indices& loops, bool top) {
    const bool keeps = keeps_outermost_ && depth_ == 0;
    Indices inside = loops;
    if (keeps) {
      const std::vector<std::string> own = expr::free_indices(expr);
      inside = {own.begin(), own.end()};
    }
    inside.insert(sum.indices.begin(), sum.indices.end());
    ++depth_;
    const bool joined = std::exchange(joins_, sum.op == expr::Reduction::Sum);
    Expr body = arrange_body(sum, inside);
    joins_ = joined;
    --depth_;
    std::vector<std::string> indices = sum.indices;
    const auto* inner = body.as<Reduce>();
    const bool is_sum = sum.op == expr::Reduction::Sum;
    if (is_sum && inner && inner->op == sum.op && inner->type == sum.type) {
      indices.insert(indices.end(), inner->indices.begin(), inner->indices.end());
      body = Expr(inner->body);
    }
    const Expr arranged = Reduce::make(sum.op, indices, body, sum.stored, sum.empty, expr.type());
    if (top || keeps || varies_with_all(arranged, loops)) return arranged;
    const std::vector<std::string> free = expr::free_indices(arranged);
    if (free.size() > 1 && !is_bounded(arranged)) return arranged;
    if (const Expr known = computed_.find(arranged)) return known;
    expr::Statement statement{{}, free, arranged};
    statement.tensor = name_(statement);
    before.push_back(statement);
    const Expr access = Access::make(next_id_++, statement.tensor, free, expr.type());
    computed_.add(arranged, access);
    return access;
  }

  // The exponents of an expsum must stay equal to those of the maximum that leads it, so both are
  // arranged in the same way.
  Expr arrange_body(const Reduce& sum, const Indices& inside) {
    const auto* within = sum.body.as<Binary>();
    if (sum.op != expr::Reduction::ExpSum || !within) return arrange(sum.body, inside, false);
    const std::vector<std::string> own = expr::free_indices(within->a);
    const Expr exponent = arrange(within->a, {own.begin(), own.end()}, false);
    joins_ = true;
    return Binary::make(within->op, exponent, arrange(within->b, inside, false), sum.body.type());
  }

  // Whether the value is 0 where the sparse operands have no entries.
  bool is_bounded(const Expr& expr) const {
    return expr::is_zero(
        expr::without(expr, [&](const Access& access) { return is_sparse_(access.tensor); }));
  }

  const std::function<bool(const std::string&)>& is_sparse_;
  const std::function<bool(const std::string&)>& is_unbounded_;
  const std::function<bool(const std::string&)>& has_coordinates_;
  const std::function<std::string(const expr::Statement&)>& name_;
  bool keeps_outermost_;
  int depth_ = 0;      // the number of sums around
  bool joins_ = true;  // the sum can join the one outside: not inside a maximum or an exponent
  int next_id_;
  ComputedBefore computed_;
};

}  // namespace

ArrangedStatement arrange_sums(const expr::Statement& statement,
                               const std::function<bool(const std::string& tensor)>& is_sparse,
                               const std::function<bool(const std::string& tensor)>& is_unbounded,
                               const std::function<bool(const std::string& index)>& has_coordinates,
                               const std::function<std::string(const expr::Statement&)>& name,
                               bool keeps_outermost) {
  Arranger arranger(statement, is_sparse, is_unbounded, has_coordinates, name, keeps_outermost);
  expr::Statement arranged = statement;
  arranged.value =
      arranger.arrange(statement.value, {statement.indices.begin(), statement.indices.end()}, true);
  return {std::move(arranger.before), std::move(arranged)};
}

}  // namespace tulle::plan
