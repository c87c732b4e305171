// Loads object files into the process and finds the kernels in them.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "loop/abi.h"

namespace tulle::jit {

// What loaded code may import: names and addresses.
using Symbols = std::vector<std::pair<std::string, void*>>;

// The code of one object file; unloaded with the last handle, after which its functions must not be
// called.
class LoadedObject {
 public:
  virtual ~LoadedObject() = default;
  // The kernel of that name; an InternalError if the object has none.
  virtual loop::KernelFunction kernel(const std::string& name) const = 0;
  // How large the object file was, in bytes: about what its code takes.
  virtual int64_t bytes() const = 0;
};

// All objects of this process that are loaded now.
struct LoadedTotals {
  int64_t objects = 0, bytes = 0;
};
LoadedTotals loaded_totals();

// Holds the process's loaded code. All functions may be called from any thread, and in the child
// after a fork. Objects may outlive the engine.
class Engine {
 public:
  explicit Engine(const Symbols& imports);
  ~Engine();

  // Links the bytes of an ELF object against the imports. `kernels` are the names that will be
  // asked for; an InternalError if the object is malformed, lacks one of them or imports what is
  // not there.
  std::shared_ptr<const LoadedObject> load(std::span<const char> object,
                                           const std::vector<std::string>& kernels);

 private:
  struct Session;
  class Object;
  std::shared_ptr<Session> session_;
};

}  // namespace tulle::jit
