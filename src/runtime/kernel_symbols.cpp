// The functions that kernels call.
#include "runtime/kernel_symbols.h"

#include "loop/abi.h"
#include "runtime/sort_integers.h"
#include "runtime/worker.h"

namespace tulle::loop {

extern "C" {

void* tulle_workspace_allocate(WorkerContext* context, int64_t bytes, bool zeroed) {
  return context->allocate(bytes, zeroed);
}

void tulle_workspace_release(WorkerContext* context, void* memory) { context->release(memory); }

void tulle_sort_i32(int32_t* begin, int32_t* end) { runtime::sort_integers(begin, end); }
void tulle_sort_i64(int64_t* begin, int64_t* end) { runtime::sort_integers(begin, end); }

void tulle_report_out_of_bounds(WorkerContext* context, const char* buffer, int64_t index,
                                int64_t size) {
  context->out_of_bounds = {buffer, index, size};
}
}

}  // namespace tulle::loop

namespace tulle::runtime {

std::vector<std::pair<std::string, void*>> kernel_symbols() {
  return {
      {"tulle_workspace_allocate", reinterpret_cast<void*>(&loop::tulle_workspace_allocate)},
      {"tulle_workspace_release", reinterpret_cast<void*>(&loop::tulle_workspace_release)},
      {"tulle_sort_i32", reinterpret_cast<void*>(&loop::tulle_sort_i32)},
      {"tulle_sort_i64", reinterpret_cast<void*>(&loop::tulle_sort_i64)},
      {"tulle_report_out_of_bounds", reinterpret_cast<void*>(&loop::tulle_report_out_of_bounds)},
  };
}

}  // namespace tulle::runtime
