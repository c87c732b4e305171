// Queries PyTorch for devices and streams. It looks for PyTorch's CUDA library at run time, because
// the shim also serves PyTorch without CUDA.
#include "devices.h"

#include <dlfcn.h>

#include <torch/headeronly/util/shim_utils.h>

#include "parallel.h"
#include "tulle/error.h"

namespace tulle::shim {

namespace {

using GetStream = AOTITorchError (*)(int32_t device, void** stream);

// A function of PyTorch, possibly in that library; null if there is none.
void* find(const char* name, const char* library_name) {
  if (void* found = dlsym(RTLD_DEFAULT, name)) return found;
  void* library = dlopen(library_name, RTLD_NOW | RTLD_NOLOAD);
  return library ? dlsym(library, name) : nullptr;
}

GetStream find_get_stream() {
  void* found = find("aoti_torch_get_current_cuda_stream", "libtorch_cuda.so");
  if (!found) {
    throw UserError("This PyTorch was built without CUDA, so Tulle cannot use its streams.");
  }
  return reinterpret_cast<GetStream>(found);
}

// torch.are_deterministic_algorithms_enabled(). The stable ABI does not provide it, so it is looked
// up by its mangled names. If PyTorch has other names, the default applies.
bool is_deterministic() {
  using GetContext = void* (*)();
  using Asks = bool (*)(const void* context);
  static const auto context =
      reinterpret_cast<GetContext>(find("_ZN2at13globalContextEv", "libtorch_cpu.so"));
  static const auto asks =
      reinterpret_cast<Asks>(find("_ZNK2at7Context23deterministicAlgorithmsEv", "libtorch_cpu.so"));
  return context && asks && asks(context());
}

}  // namespace

Device device_of(AtenTensorHandle tensor) {
  static const int32_t cpu = aoti_torch_device_type_cpu(), cuda = aoti_torch_device_type_cuda();
  int32_t type = cpu, index = 0;
  if (aoti_torch_get_device_type(tensor, &type) != TORCH_SUCCESS) {
    throw UserError("A tensor has no device; pass a tensor, not None.");
  }
  if (type == cpu) return {};
  if (type != cuda) {
    throw Unsupported(
        "Tulle computes on the CPU and on NVIDIA GPUs; a tensor is on another device.");
  }
  if (aoti_torch_get_device_index(tensor, &index) != TORCH_SUCCESS) {
    throw InternalError("PyTorch failed in get_device_index.");
  }
  return {Device::Kind::Cuda, index};
}

std::string to_string(const Device& device) {
  return device.is_cuda() ? "cuda:" + std::to_string(device.ordinal) : "cpu";
}

void* current_stream(const Device& device) {
  static const GetStream get_stream = find_get_stream();
  void* stream = nullptr;
  if (get_stream(device.ordinal, &stream) != TORCH_SUCCESS) {
    throw InternalError("PyTorch has no current stream on " + to_string(device) + ".");
  }
  return stream;
}

const RunOptions& run_options_on(const Device& device) {
  if (!device.is_cuda()) return run_options();
  thread_local RunOptions options;
  options.device = device;
  options.threads = run_options().threads;  // for compiling
  options.stream = current_stream(device);
  options.deterministic = is_deterministic();
  return options;
}

}  // namespace tulle::shim
