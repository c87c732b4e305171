// Looking ahead: rows of an operand that coming entries will gather.
#pragma once

#include <string>

#include "lower/kernel_context.h"

namespace tulle::lower {

// The prefetches that the nest asks for in a loop over `var`, at the entry at `position`.
void emit_prefetches(KernelContext& kernel, const Cursor& cursor, const loop::Expr& position,
                     const std::string& var, const KernelScope& scope, Emitter& out);

}  // namespace tulle::lower
