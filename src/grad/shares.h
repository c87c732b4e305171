// The shares of the uses of a tensor in its gradient.
#pragma once

#include <string>
#include <vector>

#include "expr/expr.h"
#include "grad/names.h"

namespace tulle::grad {

// A part of the gradient of a tensor: a value for the coordinates `indices` of the tensor.
struct Share {
  std::vector<std::string> indices;
  expr::Expr value;
};

// A name for each dimension: those of the first share where they differ from each other.
std::vector<std::string> names_of_dimensions(const std::vector<Share>& shares, Names& names);

// The sum of the shares at the coordinates `indices`, as terms to be added. A term is a sum of
// shares that a statement can hold; equal shares are counted.
std::vector<expr::Expr> terms_of(const std::vector<Share>& shares,
                                 const std::vector<std::string>& indices, Names& names);

}  // namespace tulle::grad
