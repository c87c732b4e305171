// Asks the driver about GPUs, once for each.
#include "support/cuda_device.h"

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
  kSharedMemory = 97,  // of a block that asks for it
};
constexpr int kOldest = 80;

std::unique_ptr<const Device> find_device(int ordinal) {
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
  auto device = std::make_unique<Device>();
  std::array<char, 256> name{};
  check(calls.device_name(name.data(), static_cast<int>(name.size()), handle), "naming a GPU");
  device->ordinal = ordinal;
  device->name = name.data();
  device->capability = 10 * attribute(kMajor) + attribute(kMinor);
  if (device->capability < kOldest) {
    unsupported("GPU ", ordinal, ", ", device->name, ", has the compute capability ",
                device->capability / 10, ".", device->capability % 10,
                "; Tulle's kernels need 8.0 (an A100 or later)");
  }
  device->multiprocessors = attribute(kMultiprocessors);
  device->shared_memory = attribute(kSharedMemory);
  device->second_cache = attribute(kSecondCache);
  check(calls.retain_context(&device->context, handle), "opening a GPU");
  return device;
}

}  // namespace

std::string Device::architecture() const { return capability >= 90 ? "sm_90" : "sm_80"; }

const Device& device(int ordinal) {
  static std::mutex& mutex = *new std::mutex;
  static auto& devices = *new std::map<int, std::unique_ptr<const Device>>;
  const std::lock_guard lock(mutex);
  auto& found = devices[ordinal];
  if (!found) found = find_device(ordinal);
  return *found;
}

CurrentDevice::CurrentDevice(const Device& device) {
  Context current = nullptr;
  check(driver().current_context(&current), "asking for the current GPU");
  if (current == device.context) return;
  check(driver().push_context(device.context), "switching to a GPU");
  pushed_ = true;
}

CurrentDevice::~CurrentDevice() {
  Context previous = nullptr;
  if (pushed_) driver().pop_context(&previous);
}

}  // namespace tulle::cuda
