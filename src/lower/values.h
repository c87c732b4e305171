// Values: index-notation expressions at a point of a kernel.
#pragma once

#include "lower/kernel_context.h"

namespace tulle::lower {

loop::Expr value_of(const KernelContext& kernel, const expr::Expr& expr, const KernelScope& scope,
                    Emitter& out);
// The value that an access reads, in the type that it is computed with.
loop::Expr load(const KernelContext& kernel, const expr::Access& access, const KernelScope& scope,
                Emitter& out);
// Whether the expression has a value here or is absent, which only sums without terms decide at run
// time: a constant wherever that is known.
loop::Expr presence(const KernelContext& kernel, const expr::Expr& expr);

}  // namespace tulle::lower
