// Whether coordinates that become known lie within their dimensions: the last block of a split one
// reaches past its end.
#pragma once

#include "lower/kernel_context.h"

namespace tulle::lower {

// Of the coordinates that the loop completes, which leads from the scope `before` to this one; null
// where its bounds see to that: counting loops stop in time, walks over entries do not.
loop::Expr range_condition(const KernelContext& kernel, const nest::Forall& loop,
                           bool visits_padding, const Scope& before, const Scope& scope);

// The same for a loop over the threads of a block, which has as many iterations as the block has
// threads: whether there is something for this one.
loop::Expr thread_condition(const KernelContext& kernel, const nest::Forall& loop,
                            const Scope& before, const Scope& scope);

// The same for an element of a copy: whether it is one of the operand.
loop::Expr copy_condition(const KernelContext& kernel, const nest::Assign& assign,
                          const Scope& before, const Scope& scope);

}  // namespace tulle::lower
