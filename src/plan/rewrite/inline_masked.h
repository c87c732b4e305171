// Intermediates that are used only under a mask, computed there.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "expr/program.h"

namespace tulle::plan {

// Whether the statement assigns a dense intermediate of rank 2 or more that is read once, within
// the entries of a sparse tensor: S[i,j] = sum(k, Q[i,k] * K[j,k]) under softmax(j in A[i,j],
// S[i,j]) costs one product an entry of A, and not n x n.
bool is_used_under_mask(const expr::ResolvedProgram& program, size_t statement);

// Puts the values of statements in the place of accesses to their results.
class Inliner {
 public:
  // `same_extent` makes a new index like another.
  explicit Inliner(std::function<std::string(const std::string&)> same_extent)
      : same_extent_(std::move(same_extent)) {}

  void add(const expr::Statement& statement) { statements_[statement.tensor] = statement; }
  expr::Expr inline_into(const expr::Expr& value);

 private:
  expr::Expr replace(const expr::Expr& expr);

  std::function<std::string(const std::string&)> same_extent_;
  std::map<std::string, expr::Statement> statements_;
  int next_id_ = 0;
};

}  // namespace tulle::plan
