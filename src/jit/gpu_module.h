// Loads machine code into a GPU and finds the kernels in it.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "support/cuda_gpu.h"

namespace tulle::jit {

// The code of one image on one GPU; unloaded with the last handle, after which its kernels
// must not be launched.
class GpuModule {
 public:
  // `image` is what assemble_ptx made for such a GPU. InternalError if the driver does not take it,
  // or if it lacks one of the kernels.
  GpuModule(const cuda::Gpu& device, std::span<const char> image,
            const std::vector<std::string>& kernels);
  ~GpuModule();
  GpuModule(const GpuModule&) = delete;
  GpuModule& operator=(const GpuModule&) = delete;

  cuda::Function kernel(const std::string& name) const;
  int64_t bytes() const { return bytes_; }  // of the image

 private:
  const cuda::Gpu& device_;
  int64_t bytes_;
  cuda::Module module_ = nullptr;
  std::map<std::string, cuda::Function> kernels_;
};

}  // namespace tulle::jit
