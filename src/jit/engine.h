// Links object files into the process and looks up their kernels.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "loop/abi.h"

namespace tulle::jit {

// The names and addresses that loaded code may import.
using Symbols = std::vector<std::pair<std::string, void*>>;

// The code of one object file. The last handle unloads it; its functions must not be called
// afterwards.
class LoadedObject {
 public:
  virtual ~LoadedObject() = default;
  // The kernel with that name. Raises an InternalError if the object has none.
  virtual loop::KernelFunction kernel(const std::string& name) const = 0;
  // The size of the object file in bytes, which approximates the size of its code.
  virtual int64_t bytes() const = 0;
};

// The objects of this process that are currently loaded.
struct LoadedTotals {
  int64_t objects = 0, bytes = 0;
};
LoadedTotals loaded_totals();

// Holds the process's loaded code. All functions are thread-safe, also in the child after a fork.
// Objects may outlive the engine.
class Engine {
 public:
  explicit Engine(const Symbols& imports);
  ~Engine();

  // Links an ELF object file against the imports. `kernels` are the names that callers will look
  // up. Raises an InternalError if the object is malformed, lacks one of them or imports an unknown
  // symbol.
  std::shared_ptr<const LoadedObject> load(std::span<const char> object,
                                           const std::vector<std::string>& kernels);

 private:
  struct Session;
  class Object;
  std::shared_ptr<Session> session_;
};

}  // namespace tulle::jit
