// Expressions that can be computed part by part.
#pragma once

#include "expr/expr.h"
#include "plan/rewrite/composites.h"

namespace tulle::plan {

// Whether they read the same tensor under the same indices.
bool same_access(const expr::Access& a, const expr::Access& b);

// Returns an access to a composite operand over whose parts the value can be computed: the results
// for the parts (each in the place of the operand, the others absent) add up to the value, or
// combine to it where it is a product, maximum or minimum. Null if there is none. Padding zeros,
// which parts in blocks or diagonals store, must not change the value.
const expr::Access* access_by_parts(const expr::Expr& value, const expr::ResolvedProgram& program,
                                    const Composites& composites);
// The operation that combines the values of such parts.
expr::Reduction reduction_over_parts(const expr::Expr& value);

}  // namespace tulle::plan
