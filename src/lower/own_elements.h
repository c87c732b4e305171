// The elements of a workspace that a thread keeps: of what is spread over the threads of a block
// each has its own.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "lower/kernel_context.h"

namespace tulle::lower {

// Whether the index of a workspace that the statement fills is spread, and how many coordinates of
// it a thread has.
bool is_spread(const nest::Where& where, const std::string& index);
loop::Expr extent_of_own(const KernelContext& kernel, const nest::Where& where,
                         const std::string& index);
// Loops over the elements that a thread has, of the kind that fills them, so that a register stays
// a register.
loop::Stmt for_own_elements(KernelContext& kernel, const nest::Where& where,
                            const std::vector<std::string>& indices,
                            const std::function<loop::Stmt(const loop::Expr& at)>& body);

}  // namespace tulle::lower
