// Inlines intermediates that are only used under a mask.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "expr/program.h"

namespace tulle::plan {

// Whether the statement assigns a dense intermediate of rank 2 or more with one read, which is
// within the entries of a sparse tensor. If S[i,j] = sum(k, Q[i,k] * K[j,k]) is read by softmax(j
// in A[i,j], S[i,j]), inlining computes one product for each entry of A instead of n x n.
bool is_used_under_mask(const expr::ResolvedProgram& program, size_t statement);

// Replaces accesses to the results of statements by their values.
class Inliner {
 public:
  // `same_extent` makes a new index with the extent of another.
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
