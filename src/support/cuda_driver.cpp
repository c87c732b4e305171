// Loads the functions of the driver.
#include "support/cuda_driver.h"

#include <atomic>
#include <dlfcn.h>
#include <mutex>

#include "support/check.h"

namespace tulle::cuda {

namespace {

constexpr Status kOutOfMemory = 2;

// The name and the text of a status, if the driver has them.
std::string describe(const Driver& driver, Status status) {
  const char *name = nullptr, *text = nullptr;
  driver.error_name(status, &name);
  driver.error_string(status, &text);
  return concat(name ? name : "unknown", " (", status, "): ", text ? text : "");
}

void* find(void* library, const char* symbol) {
  void* address = dlsym(library, symbol);
  if (!address) {
    user_error("the NVIDIA driver of this machine has no ", symbol,
               ": it is older than CUDA 11.2; update it, or keep tensors on the CPU");
  }
  return address;
}

Driver load_driver() {
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    user_error("there is no NVIDIA driver on this machine (", dlerror(),
               "); install one, or keep tensors on the CPU");
  }
  Driver driver;
#define X(name, symbol, parameters) \
  driver.name = reinterpret_cast<decltype(driver.name)>(find(library, symbol));
  TULLE_CUDA_FUNCTIONS(X)
#undef X
  if (const Status status = driver.init(0)) {
    user_error("the NVIDIA driver of this machine does not start: ", describe(driver, status));
  }
  return driver;
}

}  // namespace

const Driver& driver() {
  static std::atomic<const Driver*> ready = nullptr;
  if (const Driver* loaded = ready.load(std::memory_order_acquire)) return *loaded;
  static std::mutex& mutex = *new std::mutex;
  const std::lock_guard lock(mutex);
  if (!ready) ready = new Driver(load_driver());
  return *ready;
}

void check(Status status, const char* doing) {
  if (status == 0) return;
  const std::string what = describe(driver(), status);
  if (status == kOutOfMemory) {
    user_error("out of memory on the GPU while ", doing, "; use a smaller problem");
  }
  internal_error("the NVIDIA driver reports ", what, " while ", doing);
}

}  // namespace tulle::cuda
