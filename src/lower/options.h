// The properties of the machine that lowering depends on.
#pragma once

#include <cstdint>

#include "support/backend.h"

namespace tulle::lower {

// Limits on chunks. Tests lower them to cut small operands like large ones.
struct ChunkLimits {
  // With less work, starting another worker of a CPU costs more than it saves.
  int64_t work_per_chunk = 16384;
  // The same for a GPU thread, which is cheap to start.
  int64_t work_per_thread = 16;
  // Threads per block on a GPU.
  int64_t threads_per_block = 128;
  // The maximum number of GPU threads with workspaces in memory at a time.
  int64_t most_slots = int64_t{1} << 16;
  bool operator==(const ChunkLimits&) const = default;
};

struct Options {
  Backend backend = Backend::Cpu;
  ChunkLimits limits = {};

  bool on_gpu() const { return backend == Backend::Gpu; }
};

}  // namespace tulle::lower
