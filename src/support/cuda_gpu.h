// The GPUs of this machine.
#pragma once

#include <cstdint>
#include <string>

#include "support/cuda_driver.h"

namespace tulle::cuda {

// A GPU with its primary context, which PyTorch and other libraries in the process share.
struct Gpu {
  int ordinal = 0;
  std::string name;
  int capability = 0;  // 90 for 9.0
  int multiprocessors = 0;
  int64_t shared_memory = 0;  // the largest size a block can request
  int64_t second_cache = 0;
  Context context = nullptr;

  // The target architecture of generated code: "sm_80" or "sm_90".
  std::string architecture() const;
};

// The GPU of that number; never destroyed. Throws UserError if there is no driver or no such GPU,
// Unsupported if the GPU is older than the oldest target architecture.
const Gpu& gpu(int ordinal);

// Makes the GPU's context current in this thread while the object lives. Costs almost nothing if it
// is current already.
class CurrentGpu {
 public:
  explicit CurrentGpu(const Gpu& gpu);
  ~CurrentGpu();
  CurrentGpu(const CurrentGpu&) = delete;
  CurrentGpu& operator=(const CurrentGpu&) = delete;

 private:
  bool pushed_ = false;
};

}  // namespace tulle::cuda
