// Expands softmax into reductions. A weighted sum of a softmax takes one pass, or stores the
// softmax first. Otherwise the maximum and the sum of each row are computed first.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "expr/program.h"

namespace tulle::plan {

struct SoftmaxContext {
  std::function<bool(const std::string& tensor)> is_sparse;
  // Names a part of the statement that is computed separately, in the format that the language
  // gives it.
  std::function<std::string(const expr::Statement& part)> name;
  // Adds an index with the same extent.
  std::function<std::string(const std::string& index)> same_extent;
  bool is_dense = false;  // the result of the statement
  // Whether a softmax inside of a reduction is stored first.
  bool stores_weights = false;
};

// Whether the statement has a softmax inside of a reduction.
bool reduces_softmax(const expr::Statement& statement);

// sum(j, softmax(j in A, x) * v) into a dense result becomes the quotient of two sums of exp(x -
// max x), if v has a value wherever the softmax has one. The sums are gathered together with the
// maximum: one pass over each row, without a stored softmax. Any other softmax becomes exp(x - m) /
// s after statements for m and s, and for x if it contains a reduction itself. With
// `stores_weights`, a softmax inside of a reduction is a statement of its own instead. It is
// computed once for each of its entries, and vectorises if x varies with an index inside of j.
//
// Returns those statements. `statement` has no softmax afterwards.
std::vector<expr::Statement> expand_softmax(expr::Statement& statement,
                                            const SoftmaxContext& context);

}  // namespace tulle::plan
