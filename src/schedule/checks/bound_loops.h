// Checks nests with loops that are bound to parts of a GPU.
#pragma once

#include "nest/nest.h"
#include "support/result.h"

namespace tulle::schedule {

// Refuses, with what to do instead, unless
//  - the outermost loop is bound to blocks, and inside it stand warps with lanes in them, or
//    threads, each at most once on a path; but lanes in lanes are groups of them: the outer loop's
//    iterations have as many neighbouring lanes as the inner loop has iterations, 1, 2, 4, 8 or 16;
//    and lanes outside of warps store what warps have merged;
//  - no loop is parallel;
//  - warps, lanes and threads have an extent that is known and that a block has room for;
//  - bound loops count: no tensor holds only some of their coordinates, and the result has a
//    structure that is known before;
//  - different iterations of a bound loop write different locations, or the loop combines the
//    partial sums or tuples that rfactor makes (combines);
//  - every workspace is small enough for a thread to keep, or a copy in shared memory that stands
//    outside of loops over lanes and threads and is small enough for a block.
// A nest without bound loops passes.
Result<> require_legal_bindings(const nest::Nest& nest);

}  // namespace tulle::schedule
