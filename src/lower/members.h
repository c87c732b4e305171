// Members of a chunk: the threads of a GPU that run the same chunk and share the values of its
// entries.
#pragma once

#include "lower/frame.h"
#include "lower/kernel_context.h"

namespace tulle::lower {

// How many members a chunk of the kernel has: 1 where its values are not shared.
int64_t members_of_chunk(const KernelContext& kernel);
// The first coordinate of a member variable that the member at hand has.
loop::Expr first_of_member(const KernelContext& kernel, const KernelFrame& frame,
                           const std::string& var);

}  // namespace tulle::lower
