// Loads machine code into a GPU and looks up its kernels.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "support/cuda_gpu.h"

namespace tulle::jit {

// The code of one image on one GPU. The last handle unloads it; its kernels must not be launched
// afterwards.
class GpuModule {
 public:
  // `image` is the result of assemble_ptx for such a GPU. Raises an InternalError if the driver
  // rejects the image or if it lacks one of the kernels.
  GpuModule(const cuda::Gpu& device, std::span<const char> image,
            const std::vector<std::string>& kernels);
  ~GpuModule();
  GpuModule(const GpuModule&) = delete;
  GpuModule& operator=(const GpuModule&) = delete;

  cuda::DriverFunction kernel(const std::string& name) const;
  int64_t bytes() const { return bytes_; }  // of the image

 private:
  const cuda::Gpu& device_;
  int64_t bytes_;
  cuda::DriverModule module_ = nullptr;
  std::map<std::string, cuda::DriverFunction> kernels_;
};

}  // namespace tulle::jit
