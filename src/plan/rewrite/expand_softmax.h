// Softmax as reductions: in one pass where a weighted sum of it is wanted, else with the maximum
// and the sum of each row computed first.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "expr/program.h"

namespace tulle::plan {

struct SoftmaxContext {
  std::function<bool(const std::string& tensor)> is_sparse;
  // A name for a part of the statement that is computed on its own, in the format that it has by
  // the rules of the language.
  std::function<std::string(const expr::Statement& part)> name;
  // Another index of the same extent.
  std::function<std::string(const std::string& index)> same_extent;
  bool is_dense = false;  // the statement's result
};

// sum(j, softmax(j in A, x) * v) into a dense result, with a v that has a value wherever the
// softmax has one, becomes the quotient of two sums of exp(x - max x), which are gathered together
// with the maximum: one pass over each row, and no softmax is stored. Any other softmax becomes
// exp(x - m) / s after statements for m and s, and for x if that holds a reduction itself.
//
// Returns those statements; `statement` has no softmax afterwards.
std::vector<expr::Statement> expand_softmax(expr::Statement& statement,
                                            const SoftmaxContext& context);

}  // namespace tulle::plan
