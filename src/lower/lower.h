// Lowering: a nest becomes steps and kernels of a host program.
#pragma once

#include "loop/host.h"
#include "nest/nest.h"

namespace tulle::lower {

// Appends what computes the nest's result: allocation and one kernel where the structure is known,
// else counting, scanning and filling. Operands, extents (n_i), counts (A_count) and `threads` are
// names of the host program.
void lower_nest(const nest::Nest& nest, loop::HostProgram& program);

// Appends what sorts the entries of `from` (stored as unordered coordinates) into `to`, of the same
// levels, ordered but not unique: equal coordinates stand next to each other.
void sort_entries(const std::string& from, const std::string& to, const expr::TensorType& type,
                  loop::HostProgram& program);

// Inserts steps that free what was allocated and is no result right after its last use. Once, when
// the program is complete.
void free_temporaries(loop::HostProgram& program);

// Below this much work, starting another worker costs more than it saves.
inline constexpr int64_t kWorkPerChunk = 16384;

// What a chunk of a parallel loop is worth at least in what this thread lowers: kWorkPerChunk, less
// in tests that want to see small operands cut.
inline int64_t& work_per_chunk() {
  thread_local int64_t work = kWorkPerChunk;
  return work;
}

}  // namespace tulle::lower
