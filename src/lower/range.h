// Whether coordinates that become known lie within their dimensions: the last block of a split one
// reaches past its end.
#pragma once

#include <set>
#include <string>

#include "lower/kernel_context.h"

namespace tulle::lower {

// Null where nothing can lie outside.
struct RangeConditions {
  loop::Expr exists;    // for coordinates past whose end there is nothing
  loop::Expr in_range;  // for those past whose end a result has rows of padding
};

// Of the coordinates that the loop completes, which leads from the scope `before` to this one.
// Bounds see to most of them: counting loops stop in time, walks over entries do not. Variables
// that go through blocks with padding in them are `padded`.
RangeConditions range_conditions(const KernelContext& kernel, const nest::Forall& loop,
                                 bool visits_padding, const std::set<std::string>& padded,
                                 const Scope& before, const Scope& scope);

// The same for a loop over the threads of a block, which has as many iterations as the block has
// threads: whether there is something for this one.
loop::Expr thread_condition(const KernelContext& kernel, const nest::Forall& loop,
                            const Scope& before, const Scope& scope);

// The same where rows that are stored have become known by their numbers.
loop::Expr stored_row_condition(const KernelContext& kernel, const Scope& before,
                                const Scope& scope);

// The same for an element of a copy: whether it is one of the operand.
loop::Expr copy_condition(const KernelContext& kernel, const nest::Assign& assign,
                          const Scope& before, const Scope& scope);

}  // namespace tulle::lower
