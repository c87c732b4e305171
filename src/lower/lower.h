// Lowering: a nest becomes steps and kernels of a host program.
#pragma once

#include "loop/host.h"
#include "nest/nest.h"
#include "support/backend.h"

namespace tulle::lower {

// Appends what computes the nest's result: allocation and one kernel where the structure is known,
// else counting, scanning and filling. Operands, extents (n_i), counts (A_count) and `threads` (the
// workers of a CPU, the threads that a GPU has room for) are names of the host program.
// Where the result is shared, kernels of other nests add to it at the same time.
void lower_nest(const nest::Nest& nest, loop::HostProgram& program, Backend backend = Backend::Cpu,
                bool shares_result = false);

// The kernel that computes the result of a nest that is bound to a GPU.
std::string kernel_name(const nest::Nest& nest);

// Makes one kernel of these, which run on a GPU in any order, and launches it in place of the last.
void fuse_launches(const std::vector<std::string>& kernels, loop::HostProgram& program);

// By how many of its levels, from the first on, the entries of a result that the nest builds as
// coordinates have to be sorted: along the others its loops bring them in order, and sorting keeps
// that.
size_t levels_to_sort(const nest::Nest& nest, const std::string& result);
// Appends what sorts the entries of `from` (stored as unordered coordinates) by so many levels into
// `to`, of the same levels: equal coordinates stand next to each other.
void sort_entries(const std::string& from, const std::string& to, const expr::TensorType& type,
                  size_t sorted_levels, loop::HostProgram& program, Backend backend = Backend::Cpu);

// Inserts steps that free what was allocated and is no result right after its last use. Once, when
// the program is complete.
void free_temporaries(loop::HostProgram& program);

// Below this much work, starting another worker costs more than it saves; and another thread of a
// GPU, which is there anyway.
inline constexpr int64_t kWorkPerChunk = 16384, kWorkPerThread = 16;

// What a chunk of a parallel loop is worth at least in what this thread lowers: kWorkPerChunk, less
// in tests that want to see small operands cut.
inline int64_t& work_per_chunk() {
  thread_local int64_t work = kWorkPerChunk;
  return work;
}

// How chunks are laid over a GPU in what this thread lowers: threads of a block, and how many have
// workspaces in memory at a time. Less in tests that want to see several blocks and threads that
// run several chunks.
struct GpuShape {
  int64_t threads_per_block = 128;
  int64_t most_slots = int64_t{1} << 16;
};
inline GpuShape& gpu_shape() {
  thread_local GpuShape shape;
  return shape;
}

}  // namespace tulle::lower
