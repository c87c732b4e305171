// Members of a chunk: GPU threads that run the same chunk and share the values of its entries.
#pragma once

#include "lower/frame.h"
#include "lower/kernel_context.h"

namespace tulle::lower {

// The number of members of a chunk in the kernel. 1 if the values are not shared.
int64_t members_of_chunk(const KernelContext& kernel);
// The first coordinate of a member variable that belongs to the current member.
loop::Expr first_of_member(const KernelContext& kernel, const KernelFrame& frame,
                           const std::string& var);

}  // namespace tulle::lower
