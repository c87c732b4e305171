// Prefetches the rows of an operand that later entries gather.
#pragma once

#include <string>

#include "lower/kernel_context.h"

namespace tulle::lower {

// Emits the nest's prefetches in a loop over `var`, for the entry at `position`.
void emit_prefetches(KernelContext& kernel, const Cursor& cursor, const loop::Expr& position,
                     const std::string& var, const KernelScope& scope, Emitter& out);

}  // namespace tulle::lower
