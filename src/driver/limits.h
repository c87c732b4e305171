// Limits on chunks, on bodies of loops, on the GPU and on code generation with which a program is
// compiled. Tests set other limits to cut and plan small operands like large ones, and to compile
// many programs.
#pragma once

#include <cstdint>

#include "lower/options.h"

namespace tulle {

// The properties of the GPU that plans assume. 0: the real ones.
struct GpuLimits {
  int64_t many_entries = 0, last_cache = 0;
  int multiprocessors = 0, threads = 0;
};

struct CompileLimits {
  lower::ChunkLimits chunks;
  lower::BodyLimits bodies;
  GpuLimits gpu;
  bool light_code = false;  // on a CPU: generate code quickly, barely optimised
};

}  // namespace tulle
