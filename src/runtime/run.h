// Running a host program whose kernels are compiled.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "loop/abi.h"
#include "loop/host.h"
#include "support/parallelism.h"

namespace tulle::runtime {

// Where results live. The implementation owns what it hands out, also when a run fails.
class RunMemory {
 public:
  virtual ~RunMemory() = default;
  // Memory for result number `result`, aligned to loop::kWrittenAlignment; null if there is none.
  // For no elements anything will do.
  virtual void* allocate(size_t result, const loop::BufferNode& buffer, int64_t elements,
                         bool zeroed) = 0;
};

struct PreparedProgram;  // prepare.h

struct Result {
  void* data = nullptr;
  int64_t elements = -1;  // unknown for a parameter that is handed through
};

// A host program made ready: names are slots, sizes are short codes, so that a run costs little
// more than its kernels.
class CompiledProgram {
 public:
  // `kernels` are the functions of program.kernels in that order; they must outlive this.
  // InternalError if a step uses a name that no step or parameter defines.
  CompiledProgram(const loop::HostProgram& program,
                  const std::vector<loop::KernelFunction>& kernels);
  CompiledProgram(CompiledProgram&&) noexcept;
  CompiledProgram& operator=(CompiledProgram&&) noexcept;
  ~CompiledProgram();

  size_t buffer_count() const;  // of parameters
  size_t scalar_count() const;
  size_t result_count() const;

  // Parameters in the program's order, scalars as in loop/abi.h; writes one entry of `results` for
  // each result. From many threads at once. What fails raises, and every temporary is freed.
  void run(std::span<void* const> buffers, std::span<const int64_t> scalars, RunMemory& memory,
           Parallelism& parallelism, std::span<Result> results) const;

 private:
  std::unique_ptr<const PreparedProgram> prepared_;
};

}  // namespace tulle::runtime
