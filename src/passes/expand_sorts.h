// Sorts as kernels, for machines whose runtime has none of its own.
#pragma once

#include "loop/host.h"

namespace tulle::passes {

// Replaces each sort step by launches of kernels bound to a GPU: a radix sort, 8 bits at a time,
// least significant key first; bits that no key has are skipped when it runs. Afterwards the
// program has no sort steps.
loop::HostProgram expand_sorts(loop::HostProgram program);

// Replaces calls of sort in kernels by loops that sort: each GPU thread its own range.
loop::Kernel expand_sort_calls(loop::Kernel kernel);

}  // namespace tulle::passes
