// Splits wide merges.
#include "plan/rewrite/split_merges.h"

#include <algorithm>
#include <set>

#include "expr/absence.h"
#include "expr/walk.h"

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
    std::set<int> ids;  // a merge walks over equal accesses once
    for (const Access* access : expr::accesses(expr)) {
      if (is_sparse_(access->tensor)) ids.insert(access->id);
    }
    return static_cast<int>(ids.size());
  }

  // The widest part that can be a separate statement. Null if there is none.
  Expr widest_part(const Expr& expr) const {
    // The two halves of an expsum, exponents and weighted terms, stay together.
    const auto* reduce = expr.as<expr::Reduce>();
    if (reduce && reduce->op == expr::Reduction::ExpSum) return widest_child(reduce->body, {});
    const int count = sparse_count(expr);
    const bool fits = count >= 2 && count <= kMostMerged && is_plain(expr) && is_bounded(expr);
    return widest_child(expr, fits ? expr : Expr());
  }

  // Replaces all occurrences of the part in the expression.
  static Expr replace(const Expr& expr, const Expr& part, const Expr& by) {
    if (expr::is_same(expr, part)) return by;
    return expr::with_children(expr, [&](const Expr& child) { return replace(child, part, by); });
  }

 private:
  // The wider one of `best` and the widest part in the children of the expression.
  Expr widest_child(const Expr& expr, Expr best) const {
    for (const Expr& child : expr::children(expr)) {
      const Expr part = widest_part(child);
      if (part && (!best || sparse_count(part) > sparse_count(best))) best = part;
    }
    return best;
  }

  static bool is_plain(const Expr& expr) {
    if (expr.as<expr::Reduce>() || expr.as<expr::IndexValue>()) return false;
    const std::vector<Expr> parts = expr::children(expr);
    return std::all_of(parts.begin(), parts.end(), is_plain);
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
  int next_id = expr::next_access_id(statement.value);
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
