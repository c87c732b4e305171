// What the caller of a program provides, as the runtime wants it.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "compile.h"
#include "kept_data.h"
#include "runtime/gpu_run.h"
#include "runtime/run.h"
#include "runtime/thread_pool.h"
#include "support/check.h"
#include "tulle/tulle.h"

namespace tulle {

// Hands the caller's memory to the runtime and remembers the handles.
class ResultMemory final : public runtime::DeviceMemory {
 public:
  // Kept is what is made of the structure of the operands, whose views these are.
  ResultMemory(tulle::Memory& memory, const std::vector<ResultLayout>& results,
               std::vector<void*>& handles, const std::vector<TensorSpec>& operands,
               const std::vector<TensorView>& views, const Device& device)
      : memory_(memory),
        results_(results),
        handles_(handles),
        operands_(operands),
        views_(views),
        device_(device) {}

  void* allocate(size_t array, const loop::BufferNode& buffer, int64_t elements,
                 bool zeroed) override {
    const tulle::Memory::Block block = block_for(array, buffer.element, elements, zeroed);
    handles_[array] = block.handle;
    return block.data;
  }

  void* allocate_temporary(int64_t bytes) override {
    temporaries_.push_back(memory_.allocate_temporary(bytes));
    return temporaries_.back().data;
  }

  void release_temporary(void* data) override {
    const auto found = std::find_if(temporaries_.begin(), temporaries_.end(),
                                    [&](const auto& block) { return block.data == data; });
    if (found == temporaries_.end()) return;
    memory_.release_temporary(*found);
    temporaries_.erase(found);
  }

  std::span<void* const> kept(const std::string& tensor, const std::string& what) override {
    const size_t at = operand_called(tensor);
    if (at == operands_.size()) return {};
    return find_kept(views_[at].structure, device_.ordinal, name_of_kept(at, what));
  }

  bool keep(const std::string& tensor, const std::string& what, std::span<void* const> arrays,
            int64_t bytes) override {
    const size_t at = operand_called(tensor);
    if (at == operands_.size() || views_[at].structure == 0) return false;
    std::vector<std::function<void()>> release;
    for (void* array : arrays) {
      const auto found = std::find_if(temporaries_.begin(), temporaries_.end(),
                                      [&](const auto& block) { return block.data == array; });
      if (found == temporaries_.end()) continue;  // of no elements
      std::function<void()> later = memory_.keep_temporary(*found);
      if (!later) return false;
      temporaries_.erase(found);
      release.push_back(std::move(later));
    }
    keep_arrays(views_[at].structure, device_.ordinal, name_of_kept(at, what), arrays, bytes,
                std::move(release));
    return true;
  }

 private:
  // How many there are, for what is no operand.
  size_t operand_called(const std::string& tensor) const {
    const auto found =
        std::find_if(operands_.begin(), operands_.end(),
                     [&](const TensorSpec& operand) { return operand.name == tensor; });
    return static_cast<size_t>(found - operands_.begin());
  }

  // The parts of a composite operand have its structure: what is kept of them goes by their place.
  std::string name_of_kept(size_t at, const std::string& what) const {
    const auto of_structure = [&](const TensorView& view) {
      return view.structure == views_[at].structure;
    };
    const auto first = std::find_if(views_.begin(), views_.end(), of_structure);
    const auto same = std::find_if(first, views_.end(), [&](const TensorView& view) {
      return of_structure(view) && has_same_levels(view, views_[at]);
    });
    return same == first ? what : concat(what, "_of_part", same - first);
  }
  static bool has_same_levels(const TensorView& one, const TensorView& other) {
    const auto same = [](const ArraySpan& a, const ArraySpan& b) {
      return a.data == b.data && a.length == b.length;
    };
    return std::equal(one.levels.begin(), one.levels.end(), other.levels.begin(),
                      other.levels.end(), [&](const LevelSpan& a, const LevelSpan& b) {
                        return same(a.pos, b.pos) && same(a.crd, b.crd);
                      });
  }

  tulle::Memory::Block block_for(size_t array, DType type, int64_t elements, bool zeroed) {
    for (size_t result = 0; result < results_.size(); ++result) {
      if (results_[result].values == static_cast<int>(array)) {
        return memory_.allocate_values(result, type, elements, zeroed);
      }
    }
    return memory_.allocate(type, elements, zeroed);
  }

  tulle::Memory& memory_;
  const std::vector<ResultLayout>& results_;
  std::vector<void*>& handles_;
  const std::vector<TensorSpec>& operands_;
  const std::vector<TensorView>& views_;
  Device device_;
  std::vector<tulle::Memory::Block> temporaries_;  // on a GPU
};

// The caller's parallel_for as the runtime wants it.
class CallerParallelism final : public Parallelism {
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

// Where the executable runs: on the caller's stream, or on the caller's threads.
inline void run_executable(const Executable& executable, std::span<void* const> buffers,
                           std::span<const int64_t> scalars, ResultMemory& memory,
                           const RunOptions& options, std::span<runtime::Result> results) {
  if (executable.gpu_program) {
    executable.gpu_program->run(buffers, scalars, memory, static_cast<cuda::Stream>(options.stream),
                                results);
  } else {
    CallerParallelism parallelism(options);
    executable.program->run(buffers, scalars, memory, parallelism, results);
  }
}

}  // namespace tulle
