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

// Limits on the bodies of loops. Tests set lower ones, to lower small statements like large ones.
struct BodyLimits {
  // The maximum number of operations in a kernel in which each point of a merge lattice has a body
  // of its own. A kernel with more is lowered with one body for all points.
  int64_t most_operations = 640;
  // The same for a kernel with long expressions, relative to the operations of the nest.
  int64_t most_copies = 4;
  bool operator==(const BodyLimits&) const = default;
};

struct Options {
  Backend backend = Backend::Cpu;
  ChunkLimits limits = {};
  BodyLimits bodies = {};

  bool on_gpu() const { return backend == Backend::Gpu; }
};

}  // namespace tulle::lower
