// How compiled kernels are called: what code generation emits and the runtime calls.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tulle::loop {

// What a kernel may ask of the worker that runs it. Compiled code passes the pointer on and never
// looks inside.
struct WorkerContext;

// Buffers that a kernel writes begin at a multiple of so many bytes: streaming stores need it.
inline constexpr size_t kWrittenAlignment = 64;

// On a GPU all buffers do, by so many: vector accesses need it.
inline constexpr size_t kDeviceAlignment = 16;

// Runs iterations [begin, end) of the kernel's parallel loop; a kernel without one runs whole and
// ignores both. `buffers` and `scalars` follow the order of the kernel's parameters; a scalar takes
// one 64-bit slot, integers sign- extended, floating-point numbers as their bits in the low bytes.
// Returns a KernelStatus.
using KernelFunction = int32_t (*)(WorkerContext* context, void* const* buffers,
                                   const int64_t* scalars, int64_t begin, int64_t end);

enum KernelStatus : int32_t {
  kKernelOk = 0,
  kKernelOutOfMemory = 1,  // a workspace could not be allocated
  kKernelOutOfBounds = 2,  // checked mode: the context holds which buffer, index and size
};

// Symbols that compiled kernels import; the runtime defines them, the loader resolves them.
extern "C" {
// At least `bytes` of memory aligned to 64, zeroed if asked, or null. Released in reverse order of
// allocation.
void* tulle_workspace_allocate(WorkerContext* context, int64_t bytes, bool zeroed);
void tulle_workspace_release(WorkerContext* context, void* memory);
// Sorts integers in place, ascending.
void tulle_sort_i32(int32_t* begin, int32_t* end);
void tulle_sort_i64(int64_t* begin, int64_t* end);
// Records an access that checked mode found out of bounds; the kernel then returns
// kKernelOutOfBounds.
void tulle_report_out_of_bounds(WorkerContext* context, const char* buffer, int64_t index,
                                int64_t size);
}

}  // namespace tulle::loop
