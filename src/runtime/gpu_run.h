// Runs a host program whose kernels are compiled for a GPU.
#pragma once

#include <future>
#include <memory>
#include <span>
#include <vector>

#include "runtime/late_bytes.h"
#include "runtime/run.h"
#include "support/cuda_gpu.h"

namespace tulle::runtime {

// Memory for the results and temporaries of a run on a GPU: device memory, allocated in the order
// of the run's stream. The implementation owns the memory, also if the run fails.
class DeviceMemory : public RunMemory {
 public:
  // `bytes` of memory, aligned to loop::kDeviceAlignment; null if allocation fails.
  virtual void* allocate_temporary(int64_t bytes) = 0;
  // Releases the memory. Work already on the stream may still use it.
  virtual void release_temporary(void* memory) = 0;
  // The arrays cached under this name with the structure of the operand; empty if there are none.
  // They stay valid at least until the run ends.
  virtual std::span<void* const> kept(const std::string& tensor, const std::string& what) = 0;
  // Takes ownership of temporaries in order to cache them. If it returns false, the run releases
  // them.
  virtual bool keep(const std::string& tensor, const std::string& what,
                    std::span<void* const> arrays, int64_t bytes) = 0;
};

// A host program prepared for one GPU. A run submits all work to its stream and waits only in steps
// that read a number back.
class GpuProgram {
 public:
  // `kernels` are the functions of program.kernels in that order and must outlive the program.
  // Scans and sorts must have been expanded.
  GpuProgram(const loop::HostProgram& program, const std::vector<cuda::DriverFunction>& kernels,
             const cuda::Gpu& device);
  ~GpuProgram();

  // Announces optimised code for the same kernels. Captured runs wait for it, because a CUDA graph
  // keeps the code with which it was captured. Must be called before the first run.
  void expect_kernels(std::shared_future<void> ready);
  // Uses the optimised code for all later runs and keeps it loaded (`bytes` in size). May be called
  // once, from any thread. The first code stays loaded as well, because concurrent runs may use it.
  void replace_kernels(const std::vector<cuda::DriverFunction>& kernels,
                       std::shared_ptr<const void> code, int64_t bytes);
  // Adds the size of the optimised code to a total, now or when the code is ready. May be called
  // once.
  void count_better_code(LateBytes::Total total);

  size_t buffer_count() const;  // of parameters
  size_t scalar_count() const;
  size_t result_count() const;

  // Like CompiledProgram::run, with device buffers. Raises a UserError if a buffer is not aligned
  // to loop::kDeviceAlignment, or if a step reads a number back while the stream is being captured.
  void run(std::span<void* const> buffers, std::span<const int64_t> scalars, DeviceMemory& memory,
           cuda::Stream stream, std::span<RunResult> results) const;

 private:
  struct Prepared;
  std::unique_ptr<Prepared> prepared_;
};

}  // namespace tulle::runtime
