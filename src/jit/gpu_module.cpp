// Modules of the driver.
#include "jit/gpu_module.h"

#include "support/check.h"

namespace tulle::jit {

GpuModule::GpuModule(const cuda::Gpu& device, std::span<const char> image,
                     const std::vector<std::string>& kernels)
    : device_(device), bytes_(static_cast<int64_t>(image.size())) {
  const cuda::CurrentGpu current(device);
  cuda::check(cuda::driver().load_module(&module_, image.data()), "loading kernels");
  for (const std::string& name : kernels) {
    const cuda::Status found = cuda::driver().get_function(&kernels_[name], module_, name.c_str());
    if (found == 0) continue;
    cuda::driver().unload_module(module_);
    cuda::check(found, ("finding the kernel " + name).c_str());
  }
}

// Ignores errors: the process, and the driver with it, may be ending.
GpuModule::~GpuModule() {
  try {
    const cuda::CurrentGpu current(device_);
    cuda::driver().unload_module(module_);
  } catch (const std::exception&) {
    module_ = nullptr;
  }
}

cuda::DriverFunction GpuModule::kernel(const std::string& name) const {
  const auto found = kernels_.find(name);
  TULLE_CHECK(found != kernels_.end(), "the kernel ", name,
              " was not requested when its module was loaded");
  return found->second;
}

}  // namespace tulle::jit
