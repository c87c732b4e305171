// What the caller of a program provides, as the runtime wants it.
#pragma once

#include <vector>

#include "runtime/parallelism.h"
#include "runtime/run.h"
#include "tulle/tulle.h"

namespace tulle {

// Hands the caller's memory to the runtime and remembers the handles.
class ResultMemory final : public runtime::Memory {
 public:
  ResultMemory(tulle::Memory& memory, std::vector<void*>& handles)
      : memory_(memory), handles_(handles) {}

  void* allocate(size_t result, const loop::BufferNode& buffer, int64_t elements,
                 bool zeroed) override {
    const tulle::Memory::Block block = memory_.allocate(buffer.element, elements, zeroed);
    handles_[result] = block.handle;
    return block.data;
  }

 private:
  tulle::Memory& memory_;
  std::vector<void*>& handles_;
};

// The caller's parallel_for as the runtime wants it.
class CallerParallelism final : public runtime::Parallelism {
 public:
  explicit CallerParallelism(const RunOptions& options) : options_(options) {}
  int threads() const override { return options_.threads; }
  void run(int count, void (*task)(void* data, int index), void* data) override {
    if (options_.threads == 1 || count == 1) {
      for (int index = 0; index < count; ++index) task(data, index);
    } else if (options_.parallel_for) {
      options_.parallel_for(count, [&](int64_t begin, int64_t end) {
        for (int64_t index = begin; index < end; ++index) task(data, static_cast<int>(index));
      });
    } else {
      runtime::default_parallelism().run(count, task, data);
    }
  }

 private:
  const RunOptions& options_;
};

}  // namespace tulle
