// Turns vector loops into explicit vectors.
#pragma once

#include "loop/host.h"
#include "support/backend.h"
#include "support/remarks.h"

namespace tulle::passes {

struct VectorOptions {
  // The target has masked loads and stores. Without them, tails run in narrower vectors or scalars.
  bool masks = true;
  int most_copies = 32;  // a constant number of vector steps up to this is written out
  // On a GPU, loops over local arrays that have no vector form are written out.
  Backend backend = Backend::Cpu;
};

// A Vector loop becomes steps of `factor` lanes: contiguous loads and stores where indices are
// ramps, gathers and scatters elsewhere, masks for conditions and for the rest. A reduction runs in
// a vector of partial results that is combined after the loop. A loop that has no vector form stays
// a serial loop, and a remark says why.
loop::Kernel vectorize_loops(loop::Kernel kernel, const VectorOptions& options, Remarks& remarks);

}  // namespace tulle::passes
