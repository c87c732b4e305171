// Vectorises loops.
#pragma once

#include "loop/host.h"
#include "support/backend.h"
#include "support/remarks.h"

namespace tulle::passes {

struct VectorOptions {
  // The target has masked loads and stores. Without them, tails use narrower vectors or scalars.
  bool masks = true;
  int most_copies = 32;  // a constant number of vector steps up to this is unrolled
  // On a GPU, unrolls loops over local arrays that have no vector form.
  Backend backend = Backend::Cpu;
};

// A Vector loop becomes steps of `factor` lanes: contiguous loads and stores for indices that are
// ramps, gathers and scatters for other indices, masks for conditions and for the tail. A reduction
// accumulates a vector of partial results, which is combined after the loop. A loop without a
// vector form becomes serial and leaves a remark.
loop::Kernel vectorize_loops(loop::Kernel kernel, const VectorOptions& options, Remarks& remarks);

}  // namespace tulle::passes
