// Expands sorts into kernels, for devices whose runtime does not provide them.
#pragma once

#include "loop/host.h"

namespace tulle::passes {

// Replaces each sort step by launches of GPU kernels: a radix sort with 8-bit digits that starts
// with the least significant key and skips, at run time, digits that no key uses. Afterwards the
// program has no sort steps.
loop::HostProgram expand_sorts(loop::HostProgram program);

// Replaces calls of sort in kernels by sorting loops, in which each GPU thread sorts its own range.
loop::Kernel expand_sort_calls(loop::Kernel kernel);

}  // namespace tulle::passes
