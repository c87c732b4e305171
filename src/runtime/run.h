// Runs a host program whose kernels are compiled.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "loop/abi.h"
#include "loop/host.h"
#include "support/parallelism.h"

namespace tulle::runtime {

// Allocates the results of a run. The implementation owns the memory, also if the run fails.
class RunMemory {
 public:
  virtual ~RunMemory() = default;
  // Memory for result number `result`, aligned to loop::kWrittenAlignment; null if allocation
  // fails. For zero elements any pointer is valid.
  virtual void* allocate(size_t result, const loop::BufferNode& buffer, int64_t elements,
                         bool zeroed) = 0;
};

struct PreparedProgram;  // prepare.h

struct RunResult {
  void* data = nullptr;
  int64_t elements =
      -1;  // -1 for a parameter that is returned as a result, whose length is unknown
};

// A prepared host program: names are resolved to slots and sizes are compiled to short codes, so
// that a run costs little more than its kernels.
class CompiledProgram {
 public:
  // `kernels` are the functions of program.kernels in that order and must outlive the program.
  // Raises an InternalError if a step uses a name that no step or parameter defines.
  CompiledProgram(const loop::HostProgram& program,
                  const std::vector<loop::KernelFunction>& kernels);
  CompiledProgram(CompiledProgram&&) noexcept;
  CompiledProgram& operator=(CompiledProgram&&) noexcept;
  ~CompiledProgram();

  size_t buffer_count() const;  // of parameters
  size_t scalar_count() const;
  size_t result_count() const;

  // Parameters are in the program's order, scalars as in loop/abi.h. Writes one entry of `results`
  // per result. Thread-safe. If a step fails, the run frees all temporaries and raises the error.
  void run(std::span<void* const> buffers, std::span<const int64_t> scalars, RunMemory& memory,
           Parallelism& parallelism, std::span<RunResult> results) const;

 private:
  std::unique_ptr<const PreparedProgram> prepared_;
};

}  // namespace tulle::runtime
