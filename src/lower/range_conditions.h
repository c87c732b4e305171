// Conditions that newly known coordinates are within their dimensions. The last block of a split
// dimension reaches past its end.
#pragma once

#include <set>
#include <string>

#include "lower/kernel_context.h"

namespace tulle::lower {

// Null if no coordinate can be outside.
struct RangeConditions {
  loop::Expr exists;    // coordinates that fail it have no entries
  loop::Expr in_range;  // rows of a result that fail it are padding
};

// The conditions on the coordinates that the loop completes; it leads from the scope `before` to
// this one. Loop bounds cover most of them: counting loops end in time, but walks over entries do
// not. `padded` are the variables that run through blocks with padding.
RangeConditions range_conditions(const KernelContext& kernel, const nest::Forall& loop,
                                 bool visits_padding, const std::set<std::string>& padded,
                                 const KernelScope& before, const KernelScope& scope);

// For a loop over the threads of a block, which has an iteration for each thread: whether this
// thread has a coordinate.
loop::Expr thread_condition(const KernelContext& kernel, const nest::Forall& loop,
                            const KernelScope& before, const KernelScope& scope);

// For stored rows whose numbers this scope makes known.
loop::Expr stored_row_condition(const KernelContext& kernel, const KernelScope& before,
                                const KernelScope& scope);

// For an element of a copy: whether the operand has it.
loop::Expr copy_condition(const KernelContext& kernel, const nest::Assign& assign,
                          const KernelScope& before, const KernelScope& scope);

}  // namespace tulle::lower
