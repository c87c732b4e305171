// The driver's assembler and its log.
#include "jit/gpu_module.h"

#include <array>

#include "support/check.h"

namespace tulle::jit {

namespace {

// Numbers of CUjit_option.
enum Option : int { kErrorLog = 5, kErrorLogSize = 6 };

}  // namespace

GpuModule::GpuModule(const cuda::Device& device, const std::string& ptx,
                     const std::vector<std::string>& kernels)
    : device_(device), bytes_(static_cast<int64_t>(ptx.size())) {
  const cuda::CurrentDevice current(device);
  std::array<char, 8192> log{};
  std::array<int, 2> options{kErrorLog, kErrorLogSize};
  std::array<void*, 2> values{log.data(), reinterpret_cast<void*>(log.size())};
  const cuda::Status status = cuda::driver().load_module(
      &module_, ptx.c_str(), static_cast<unsigned>(options.size()), options.data(), values.data());
  if (status != 0 && log[0] != 0) {
    internal_error("the NVIDIA driver does not assemble the kernels for ", device.name, ":\n",
                   log.data());
  }
  cuda::check(status, "loading kernels");
  for (const std::string& name : kernels) {
    const cuda::Status found = cuda::driver().get_function(&kernels_[name], module_, name.c_str());
    if (found == 0) continue;
    cuda::driver().unload_module(module_);
    cuda::check(found, ("finding the kernel " + name).c_str());
  }
}

// The process may be ending, and the driver with it: what it says does not matter.
GpuModule::~GpuModule() {
  try {
    const cuda::CurrentDevice current(device_);
    cuda::driver().unload_module(module_);
  } catch (const std::exception&) {
    module_ = nullptr;
  }
}

cuda::Function GpuModule::kernel(const std::string& name) const {
  const auto found = kernels_.find(name);
  TULLE_CHECK(found != kernels_.end(), "the kernel ", name,
              " was not asked for when its module was loaded");
  return found->second;
}

}  // namespace tulle::jit
