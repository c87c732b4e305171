// The per-worker state of running kernels: workspaces, and the report of a failed check.
#pragma once

#include <cstdint>
#include <vector>

#include "loop/abi.h"

namespace tulle::loop {

// A stack of workspaces in a few large chunks, which are reused by later kernels.
struct WorkerContext {
  WorkerContext() = default;
  WorkerContext(const WorkerContext&) = delete;
  WorkerContext& operator=(const WorkerContext&) = delete;
  ~WorkerContext();

  void* allocate(int64_t bytes, bool zeroed) noexcept;
  void release(void* memory) noexcept;

  // The access that checked mode rejected; `buffer` is null if there was none.
  struct OutOfBounds {
    const char* buffer = nullptr;
    int64_t index = 0;
    int64_t size = 0;
  };
  OutOfBounds out_of_bounds;

 private:
  struct Chunk {
    char* begin;
    int64_t size;
    int64_t used;
  };
  bool add_chunk(int64_t bytes) noexcept;
  void drop_last_chunk() noexcept;

  std::vector<Chunk> chunks_;
  int64_t in_use_ = 0;
  int64_t most_in_use_ = 0;  // since the chunks were last merged into one
};

}  // namespace tulle::loop

namespace tulle::runtime {

// The context of the calling thread.
loop::WorkerContext& this_worker();

}  // namespace tulle::runtime
