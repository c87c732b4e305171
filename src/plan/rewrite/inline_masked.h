// Inlines intermediates that are only used under a mask.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "expr/program.h"

namespace tulle::plan {

// The reads of a dense intermediate of rank 2 or more, if all are within the entries of sparse
// tensors. If S[i,j] = sum(k, Q[i,k] * K[j,k]) is read by softmax(j in A[i,j], S[i,j]), inlining
// computes one product for each entry of A instead of n x n.
struct MaskedReads {
  int count = 0;
  // The mask of all reads, with the indices of the statement. Null if they have no common mask
  // among the operands.
  expr::Expr mask;
};
// For each statement of the program. Reads by a statement whose own reads are masked count as
// masked. A statement with a schedule (`is_scheduled`) computes all elements.
std::vector<std::optional<MaskedReads>> masked_reads(
    const expr::ResolvedProgram& program, const std::function<bool(size_t number)>& is_scheduled);

// Whether computing the value once for each read costs less than storing it.
bool is_cheap_to_repeat(const expr::Expr& value, int reads);

// The value at the entries of the mask.
expr::Expr within_mask(const expr::Expr& mask, const expr::Expr& value);

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
