// Caches compiled code by the hash of its inputs, in memory and on disk.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "jit/content_hash.h"
#include "jit/disk_cache.h"
#include "jit/engine.h"
#include "jit/gpu_module.h"
#include "support/parallelism.h"

namespace tulle::jit {

// All functions are thread-safe, also in the child after a fork.
class KernelCache {
 public:
  // `directory` as for DiskCache.
  KernelCache(const Symbols& imports, std::string directory);

  // `key` must cover everything that the code depends on, except the build of this library.
  // `kernels` are the names that callers will look up.
  struct WantedCode {
    ContentHash key;
    std::vector<std::string> kernels;
  };
  // Compiles the wanted code with these indices to object files, in that order.
  using CompileMissing =
      std::function<std::vector<std::vector<char>>(const std::vector<size_t>& missing)>;

  // Finds or compiles all wanted code. `compile` is called at most once, for the code that is
  // neither in memory nor on disk. Concurrent calls never load or compile the same code twice:
  // later callers wait for the first one. Without `compile`, the function does not wait, and
  // missing code is null.
  std::vector<std::shared_ptr<const LoadedObject>> find(const std::vector<WantedCode>& wanted,
                                                        const CompileMissing& compile);

  // The same for a GPU, where `compile` returns PTX. Code is loaded once per GPU. Assembling takes
  // longest; `parallelism` provides threads for it. For light code (codegen::Target) `compile`
  // returns the image itself, which is not stored on disk.
  std::vector<std::shared_ptr<const GpuModule>> find_gpu(const std::vector<WantedCode>& wanted,
                                                         const cuda::Gpu& device, bool light,
                                                         Parallelism& parallelism,
                                                         const CompileMissing& compile);

  // Whether the code is on disk under this key. Does not load it.
  bool is_on_disk(const ContentHash& key);

  // Loads an object file without caching it.
  std::shared_ptr<const LoadedObject> load(std::span<const char> object,
                                           const std::vector<std::string>& kernels);

  // The directory on disk, for data that accompanies the code.
  DiskCache& disk() { return disk_; }

 private:
  struct CodeCell {
    std::mutex filling;
    std::weak_ptr<const void> code;
  };
  using Code = std::shared_ptr<const void>;
  using Load = std::function<Code(std::span<const char> bytes)>;

  // `place` distinguishes code that the same bytes become on several devices.
  struct CodeLookup {
    ContentHash key;
    std::string place;
    bool is_kept;  // on disk
    Load load;
  };

  std::vector<Code> find_code(const std::vector<CodeLookup>& requests, Parallelism& parallelism,
                              const CompileMissing& compile);
  struct LookupPlace;
  // Loads the compiled code of each missing place and stores it on disk.
  void fill(const std::vector<LookupPlace*>& missing, const std::vector<CodeLookup>& requests,
            const std::vector<std::vector<char>>& compiled, Parallelism& parallelism);
  std::shared_ptr<const GpuModule> load_ptx(const cuda::Gpu& device, const std::string& text,
                                            const std::vector<std::string>& kernels);
  // The code in memory or on disk; null if it is in neither.
  Code look_up(CodeCell& cell, const ContentHash& on_disk, const CodeLookup& request);
  std::shared_ptr<CodeCell> cell_of(const ContentHash& key);
  Code load_from_disk(const ContentHash& key, const Load& load);

  Engine engine_;
  DiskCache disk_;
  std::mutex mutex_;  // guards the members below
  std::map<ContentHash, std::shared_ptr<CodeCell>> cells_;
  size_t most_cells_ = 64;  // above this, cells of unloaded code are removed
};

}  // namespace tulle::jit
