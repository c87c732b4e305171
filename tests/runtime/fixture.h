// Compiles the text of a host program and runs it.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "jit/engine.h"
#include "runtime/run.h"
#include "runtime/thread_pool.h"

namespace tulle::runtime {

// Results in vectors of aligned cache lines.
class VectorMemory final : public RunMemory {
 public:
  void* allocate(size_t result, const loop::BufferNode& buffer, int64_t elements,
                 bool zeroed) override;
  bool fail = false;

 private:
  struct alignas(loop::kWrittenAlignment) Line {
    std::array<char, loop::kWrittenAlignment> bytes;
  };
  std::map<size_t, std::vector<Line>> results_;
};

class TestProgram {
 public:
  explicit TestProgram(const std::string& text);

  std::vector<RunResult> run(std::vector<void*> buffers, std::vector<int64_t> scalars,
                             Parallelism& parallelism = default_parallelism());
  const CompiledProgram& compiled() const { return *program_; }
  VectorMemory memory;

 private:
  std::shared_ptr<const jit::LoadedObject> object_;
  std::unique_ptr<CompiledProgram> program_;
};

template <typename T>
std::vector<T> as_vector(const RunResult& result) {
  const auto* data = static_cast<const T*>(result.data);
  return std::vector<T>(data, data + result.elements);
}

}  // namespace tulle::runtime
