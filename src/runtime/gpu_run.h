// Running a host program whose kernels are compiled for a GPU.
#pragma once

#include <future>
#include <memory>
#include <span>
#include <vector>

#include "runtime/late_bytes.h"
#include "runtime/run.h"
#include "support/cuda_device.h"

namespace tulle::runtime {

// Where results and temporaries of a run on a GPU live: device memory, in the order of the run's
// stream. The implementation owns what it hands out, also when a run fails.
class DeviceMemory : public RunMemory {
 public:
  // `bytes` of memory, aligned to loop::kDeviceAlignment; null if there is none.
  virtual void* allocate_temporary(int64_t bytes) = 0;
  // Takes it back; what the stream was given before may still use it.
  virtual void release_temporary(void* memory) = 0;
  // The arrays that are kept under this name with the structure of the operand; none where they are
  // not. They stay at least as long as the run.
  virtual std::span<void* const> kept(const std::string& tensor, const std::string& what) = 0;
  // Takes temporaries over, to be kept so. Whether it does: they are released with the run if not.
  virtual bool keep(const std::string& tensor, const std::string& what,
                    std::span<void* const> arrays, int64_t bytes) = 0;
};

// A host program made ready for one GPU. Everything it does goes to the run's stream; nothing
// waits, but for steps that read a number back.
class GpuProgram {
 public:
  // `kernels` are the functions of program.kernels in that order; they must outlive this. The
  // program's scans and sorts must have been expanded.
  GpuProgram(const loop::HostProgram& program, const std::vector<cuda::Function>& kernels,
             const cuda::Device& device);
  ~GpuProgram();

  // Better code for the same kernels is being made. Runs that are captured wait for it: a CUDA
  // graph keeps the code that it was captured with. To be said before the first run.
  void expect_kernels(std::shared_future<void> ready);
  // Takes it for all runs from now on, and keeps it loaded, so many bytes. From any thread, once.
  // What it began with stays loaded too: runs may be under way with it.
  void replace_kernels(const std::vector<cuda::Function>& kernels, std::shared_ptr<const void> code,
                       int64_t bytes);
  // Has the size of better code added to a total, now or when it is there. Once.
  void count_better_code(LateBytes::Total total);

  size_t buffer_count() const;  // of parameters
  size_t scalar_count() const;
  size_t result_count() const;

  // As CompiledProgram::run, with buffers of the device. UserError if one is not aligned to
  // loop::kDeviceAlignment, or if a number is to be read back while the stream is captured.
  void run(std::span<void* const> buffers, std::span<const int64_t> scalars, DeviceMemory& memory,
           cuda::Stream stream, std::span<Result> results) const;

 private:
  struct Prepared;
  std::unique_ptr<Prepared> prepared_;
};

}  // namespace tulle::runtime
