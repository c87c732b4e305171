// Which values can be computed part by part.
#pragma once

#include "expr/expr.h"
#include "plan/rewrite/composites.h"

namespace tulle::plan {

// Whether they read the same tensor under the same indices.
bool same_access(const expr::Access& a, const expr::Access& b);

// An access to a composite operand such that the value is the sum of what it is with one part after
// the other in its place, all others being absent, or, if it is a product, maximum or minimum, that
// of these; null if there is none. Zeros that parts in blocks or diagonals store in places of no
// entry, or of another part's, must not show.
const expr::Access* access_by_parts(const expr::Expr& value, const expr::ResolvedProgram& program,
                                    const Composites& composites);
// By which the values of such parts are put together.
expr::Reduction reduction_over_parts(const expr::Expr& value);

}  // namespace tulle::plan
