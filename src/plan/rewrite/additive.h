// Finds expressions that can be computed part by part.
#pragma once

#include "expr/expr.h"
#include "plan/rewrite/composites.h"

namespace tulle::plan {

// Whether both read the same tensor with the same indices.
bool same_access(const expr::Access& a, const expr::Access& b);

// Returns an access to a composite operand over whose parts the value can be computed, or null. For
// each part, the value is computed with the part in the place of the operand. These results must
// add up to the value, or combine to it if it is a product, maximum or minimum. Padding zeros,
// which parts in blocks or diagonals store, must not change the value.
const expr::Access* access_by_parts(const expr::Expr& value, const expr::ResolvedProgram& program,
                                    const Composites& composites);
// The operation that combines the values of such parts.
expr::Reduction reduction_over_parts(const expr::Expr& value);

}  // namespace tulle::plan
