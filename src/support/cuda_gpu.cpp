// Queries the driver about each GPU once.
#include "support/cuda_gpu.h"

#include <array>
#include <map>
#include <memory>
#include <mutex>

#include "support/check.h"

namespace tulle::cuda {

namespace {

// Numbers of CUdevice_attribute.
enum Attribute : int {
  kMultiprocessors = 16,
  kSecondCache = 38,
  kMajor = 75,
  kMinor = 76,
  kSharedMemory = 97,  // per block, opt-in
};
constexpr int kOldest = 80;

std::unique_ptr<const Gpu> find_gpu(int ordinal) {
  const Driver& calls = driver();
  int count = 0, handle = 0;
  check(calls.device_count(&count), "counting GPUs");
  if (ordinal < 0 || ordinal >= count) {
    user_error("there is no GPU number ", ordinal, "; this machine has ", count);
  }
  check(calls.device_get(&handle, ordinal), "finding a GPU");
  const auto attribute = [&](Attribute which) {
    int value = 0;
    check(calls.device_attribute(&value, which, handle), "asking a GPU for its properties");
    return value;
  };
  auto gpu = std::make_unique<Gpu>();
  std::array<char, 256> name{};
  check(calls.device_name(name.data(), static_cast<int>(name.size()), handle), "naming a GPU");
  gpu->ordinal = ordinal;
  gpu->name = name.data();
  gpu->capability = 10 * attribute(kMajor) + attribute(kMinor);
  if (gpu->capability < kOldest) {
    unsupported("GPU ", ordinal, ", ", gpu->name, ", has the compute capability ",
                gpu->capability / 10, ".", gpu->capability % 10,
                "; Tulle's kernels need 8.0 (an A100 or later)");
  }
  gpu->multiprocessors = attribute(kMultiprocessors);
  gpu->shared_memory = attribute(kSharedMemory);
  gpu->second_cache = attribute(kSecondCache);
  check(calls.retain_context(&gpu->context, handle), "opening a GPU");
  return gpu;
}

}  // namespace

std::string Gpu::architecture() const { return capability >= 90 ? "sm_90" : "sm_80"; }

const Gpu& gpu(int ordinal) {
  static std::mutex& mutex = *new std::mutex;
  static auto& gpus = *new std::map<int, std::unique_ptr<const Gpu>>;
  const std::lock_guard lock(mutex);
  auto& found = gpus[ordinal];
  if (!found) found = find_gpu(ordinal);
  return *found;
}

CurrentGpu::CurrentGpu(const Gpu& gpu) {
  Context current = nullptr;
  check(driver().current_context(&current), "asking for the current GPU");
  if (current == gpu.context) return;
  check(driver().push_context(gpu.context), "switching to a GPU");
  pushed_ = true;
}

CurrentGpu::~CurrentGpu() {
  Context previous = nullptr;
  if (pushed_) driver().pop_context(&previous);
}

}  // namespace tulle::cuda
