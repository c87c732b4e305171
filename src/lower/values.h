// Evaluates index-notation expressions at a point of a kernel.
#pragma once

#include "lower/kernel_context.h"

namespace tulle::lower {

loop::Expr value_of(const KernelContext& kernel, const expr::Expr& expr, const KernelScope& scope,
                    Emitter& out);
// The value that an access reads, converted to the type of the computation.
loop::Expr load(const KernelContext& kernel, const expr::Access& access, const KernelScope& scope,
                Emitter& out);

}  // namespace tulle::lower
