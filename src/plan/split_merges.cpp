// Cutting wide merges.
#include "plan/split_merges.h"

#include <algorithm>

#include "expr/absence.h"

namespace tulle::plan {

using expr::Access;
using expr::Expr;

namespace {

constexpr int kMostMerged = 4;

class Splitter {
 public:
  explicit Splitter(const std::function<bool(const std::string&)>& is_sparse)
      : is_sparse_(is_sparse) {}

  int sparse_count(const Expr& expr) const {
    const auto found = expr::accesses(expr);
    return static_cast<int>(std::count_if(found.begin(), found.end(), [&](const Access* access) {
      return is_sparse_(access->tensor);
    }));
  }

  // The widest part that may stand on its own; null if there is none.
  Expr widest_part(const Expr& expr) const {
    Expr best;
    const int count = sparse_count(expr);
    if (count >= 2 && count <= kMostMerged && is_plain(expr) && is_bounded(expr)) best = expr;
    auto consider = [&](const Expr& child) {
      const Expr part = widest_part(child);
      if (part && (!best || sparse_count(part) > sparse_count(best))) best = part;
    };
    if (const auto* unary = expr.as<expr::Unary>()) consider(unary->value);
    if (const auto* sum = expr.as<expr::Reduce>()) consider(sum->body);
    if (const auto* binary = expr.as<expr::Binary>()) {
      consider(binary->a);
      consider(binary->b);
    }
    return best;
  }

  // The expression with that very part replaced.
  static Expr replace(const Expr& expr, const Expr& part, const Expr& by) {
    if (expr.get() == part.get()) return by;
    return expr::with_children(expr, [&](const Expr& child) { return replace(child, part, by); });
  }

 private:
  static bool is_plain(const Expr& expr) {
    if (expr.as<expr::Reduce>()) return false;
    if (const auto* unary = expr.as<expr::Unary>()) return is_plain(unary->value);
    const auto* binary = expr.as<expr::Binary>();
    return !binary || (is_plain(binary->a) && is_plain(binary->b));
  }

  bool is_bounded(const Expr& expr) const {
    return expr::is_zero(
        expr::without(expr, [&](const Access& access) { return is_sparse_(access.tensor); }));
  }

  const std::function<bool(const std::string&)>& is_sparse_;
};

}  // namespace

SplitStatement split_merges(const expr::Statement& statement,
                            const std::function<bool(const std::string& tensor)>& is_sparse,
                            const std::function<std::string(const expr::Statement&)>& name) {
  SplitStatement split{{}, statement};
  const Splitter splitter(is_sparse);
  int next_id = 0;
  for (const Access* access : expr::accesses(statement.value)) {
    next_id = std::max(next_id, access->id + 1);
  }
  while (splitter.sparse_count(split.statement.value) > kMostMerged) {
    const Expr part = splitter.widest_part(split.statement.value);
    if (!part) break;
    expr::Statement alone{{}, expr::free_indices(part), part};
    alone.tensor = name(alone);
    split.before.push_back(alone);
    const Expr access = Access::make(next_id++, alone.tensor, alone.indices, part.type());
    split.statement.value = Splitter::replace(split.statement.value, part, access);
  }
  return split;
}

}  // namespace tulle::plan
