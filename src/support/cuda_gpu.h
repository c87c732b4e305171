// The GPUs of this machine.
#pragma once

#include <cstdint>
#include <string>

#include "support/cuda_driver.h"

namespace tulle::cuda {

// One GPU with the context that PyTorch and everybody else in the process use too.
struct Gpu {
  int ordinal = 0;
  std::string name;
  int capability = 0;  // 90 for 9.0
  int multiprocessors = 0;
  int64_t shared_memory = 0;  // that a block can ask for
  int64_t second_cache = 0;
  Context context = nullptr;

  // What code is generated for: "sm_80" or "sm_90".
  std::string architecture() const;
};

// Never destroyed. UserError if there is no driver or no GPU of that number, Unsupported if it is
// older than those that code is generated for.
const Gpu& gpu(int ordinal);

// Makes the device's context the thread's as long as it lives; costs next to nothing where it is
// already.
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
