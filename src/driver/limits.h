// Limits of chunks and of the GPU that a program is compiled with. Only tests ask for others than
// these: they have small operands cut and planned as large ones.
#pragma once

#include <cstdint>

#include "lower/options.h"

namespace tulle {

// What plans take for those of the GPU; 0: what the GPU has.
struct GpuLimits {
  int64_t many_entries = 0, last_cache = 0;
  int multiprocessors = 0, threads = 0;
};

struct CompileLimits {
  lower::ChunkLimits chunks;
  GpuLimits gpu;
};

}  // namespace tulle
