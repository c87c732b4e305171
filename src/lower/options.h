// The properties of the machine that lowering depends on.
#pragma once

#include <cstdint>

#include "support/backend.h"

namespace tulle::lower {

// How work is cut into chunks. Tests lower the limits to have small operands cut as large ones.
struct ChunkLimits {
  // Below this much work, another worker of a CPU costs more to start than it saves.
  int64_t work_per_chunk = 16384;
  // The same for another thread of a GPU, which costs little.
  int64_t work_per_thread = 16;
  // Threads of a block of a GPU.
  int64_t threads_per_block = 128;
  // How many threads of a GPU have workspaces in memory at a time.
  int64_t most_slots = int64_t{1} << 16;
  bool operator==(const ChunkLimits&) const = default;
};

struct Options {
  Backend backend = Backend::Cpu;
  ChunkLimits limits = {};

  bool on_gpu() const { return backend == Backend::Gpu; }
};

}  // namespace tulle::lower
