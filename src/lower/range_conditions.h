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
                                 const KernelScope& before, const KernelScope& scope);

// The same for a loop over the threads of a block, which has an iteration for each thread: whether
// this thread has a coordinate.
loop::Expr thread_condition(const KernelContext& kernel, const nest::Forall& loop,
                            const KernelScope& before, const KernelScope& scope);

// The same for stored rows whose numbers have become known.
loop::Expr stored_row_condition(const KernelContext& kernel, const KernelScope& before,
                                const KernelScope& scope);

// The same for an element of a copy: whether the operand has it.
loop::Expr copy_condition(const KernelContext& kernel, const nest::Assign& assign,
                          const KernelScope& before, const KernelScope& scope);

}  // namespace tulle::lower
