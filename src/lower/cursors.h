// Properties of the first unresolved level of an access.
#pragma once

#include "lower/kernel_context.h"

namespace tulle::lower {

// The positions of that level.
Positions run_of(const KernelContext& kernel, const Cursor& cursor, const KernelScope& scope,
                 Emitter& out);
// The end of the run of equal coordinates that starts at `begin`.
loop::Expr run_end(const KernelContext& kernel, const Cursor& cursor, const loop::Expr& begin,
                   const Positions& run, const loop::Expr& coordinate, Emitter& out);
// Whether the result shares the structure of this operand, so that a loop over the level's entries
// visits all entries of the result.
bool visits_all_of_result(const KernelContext& kernel, const Cursor& cursor);

}  // namespace tulle::lower
