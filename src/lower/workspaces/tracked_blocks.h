// Blocks of tracked workspaces. A loop that enters the next block starts it and lists it.
#pragma once

#include "lower/kernel_context.h"
#include "lower/result/touches.h"

namespace tulle::lower {

// An assignment to the workspace whose next block begins between the scope `before` and this one.
// Null if there is none.
const nest::Assign* block_at(const KernelContext& kernel, const nest::Stmt& stmt,
                             const KernelScope& before, const KernelScope& scope);
// Wraps the body of that loop: starts the block, and lists it if something was added.
void track_block(KernelContext& kernel, Touches& touches, const nest::Assign& assign,
                 const KernelScope& scope, Emitter& out, const BodyLowering& body);

}  // namespace tulle::lower
