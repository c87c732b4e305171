// The binary interface of compiled kernels, which code generation emits and the runtime calls.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tulle::loop {

// The services that a worker provides to its kernel. Compiled code passes the pointer on without
// reading the context.
struct WorkerContext;

// The alignment in bytes of buffers that a kernel writes. Streaming stores need it.
inline constexpr size_t kWrittenAlignment = 64;

// The alignment in bytes of all buffers on a GPU. Vector accesses need it.
inline constexpr size_t kDeviceAlignment = 16;

// Runs iterations [begin, end) of the kernel's parallel loop. A kernel without a parallel loop
// ignores both and runs completely. `buffers` and `scalars` are in the order of the kernel's
// parameters. Each scalar takes one 64-bit slot: integers are sign-extended, floating-point numbers
// have their bits in the low bytes. Returns a KernelStatus.
using KernelFunction = int32_t (*)(WorkerContext* context, void* const* buffers,
                                   const int64_t* scalars, int64_t begin, int64_t end);

enum KernelStatus : int32_t {
  kKernelOk = 0,
  kKernelOutOfMemory = 1,  // a workspace could not be allocated
  kKernelOutOfBounds = 2,  // checked mode: the context holds the buffer, index and size
};

// Symbols that compiled kernels import. The runtime defines them, the loader resolves them.
extern "C" {
// At least `bytes` of memory aligned to 64 bytes, zeroed on request; null if allocation fails. Must
// be released in reverse order of allocation.
void* tulle_workspace_allocate(WorkerContext* context, int64_t bytes, bool zeroed);
void tulle_workspace_release(WorkerContext* context, void* memory);
// Sorts integers in place, in ascending order.
void tulle_sort_i32(int32_t* begin, int32_t* end);
void tulle_sort_i64(int64_t* begin, int64_t* end);
// Records an out-of-bounds access found by checked mode. The kernel then returns
// kKernelOutOfBounds.
void tulle_report_out_of_bounds(WorkerContext* context, const char* buffer, int64_t index,
                                int64_t size);
}

}  // namespace tulle::loop
