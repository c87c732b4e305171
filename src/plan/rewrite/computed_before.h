// The reductions that are computed by separate statements.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "expr/expr.h"

namespace tulle::plan {

// Equal reductions share one statement.
class ComputedBefore {
 public:
  // The access that replaces an equal reduction. Null if there is none yet.
  expr::Expr find(const expr::Expr& reduction) const {
    const auto found = std::find_if(computed_.begin(), computed_.end(), [&](const auto& computed) {
      return expr::is_same(computed.first, reduction);
    });
    return found == computed_.end() ? expr::Expr() : found->second;
  }
  void add(const expr::Expr& reduction, const expr::Expr& access) {
    computed_.emplace_back(reduction, access);
  }

 private:
  std::vector<std::pair<expr::Expr, expr::Expr>> computed_;
};

}  // namespace tulle::plan
