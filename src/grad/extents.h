// Extents in derived expressions.
#pragma once

#include <string>
#include <vector>

#include "expr/program.h"
#include "grad/names.h"

namespace tulle::grad {

// An index of a statement gets its extent from an access. Derivation takes expressions apart, so
// that extent(j) may stay where no access has j. Such extents become scalar tensors, which
// statements of their own compute.
class Extents {
 public:
  explicit Extents(Names& names) : names_(names) {}

  // The extent of an index that an access in `source` has.
  expr::Expr of(const expr::Expr& source, const std::string& index);

  // The value, with `of` in place of each extent that no access in the value defines.
  expr::Expr defined(const expr::Expr& value, const expr::Expr& source);

  // Removes and returns the statements that compute the scalars. They precede every statement that
  // has an expression from this object.
  std::vector<expr::Statement> take_statements();

 private:
  Names& names_;
  std::vector<expr::Statement> statements_;
};

}  // namespace tulle::grad
