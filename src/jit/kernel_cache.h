// Compiled code by the hash of what it is compiled from: in memory, on disk, or made.
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

namespace tulle::jit {

// All functions may be called from any thread, and in the child after a fork.
class KernelCache {
 public:
  // `directory` as for DiskCache.
  KernelCache(const Symbols& imports, std::string directory);

  using Compile = std::function<std::vector<char>()>;

  // The code for `key`, which must say everything that `compile` depends on but the build of this
  // library. The same code is never loaded twice at a time, nor compiled twice at once: whoever
  // comes second waits. `kernels` are the names that will be asked for.
  std::shared_ptr<const LoadedObject> find(const ContentHash& key,
                                           const std::vector<std::string>& kernels,
                                           const Compile& compile);

  // The same for a GPU, where `compile` makes PTX. Code is loaded once for each GPU.
  using CompilePtx = std::function<std::string()>;
  std::shared_ptr<const GpuModule> find_gpu(const ContentHash& key, const cuda::Device& device,
                                            const std::vector<std::string>& kernels,
                                            const CompilePtx& compile);

  // The code of an object file that is not kept.
  std::shared_ptr<const LoadedObject> load(std::span<const char> object,
                                           const std::vector<std::string>& kernels);

 private:
  struct Cell {
    std::mutex filling;
    std::weak_ptr<const void> code;
  };
  using Code = std::shared_ptr<const void>;
  using Load = std::function<Code(std::span<const char> bytes)>;

  // `place` tells apart what the same bytes become in several places.
  Code find_code(const ContentHash& key, std::string_view place, const Load& load,
                 const Compile& compile);
  std::shared_ptr<Cell> cell_of(const ContentHash& key);
  Code load_from_disk(const ContentHash& key, const Load& load);

  Engine engine_;
  DiskCache disk_;
  std::mutex mutex_;  // guards what follows
  std::map<ContentHash, std::shared_ptr<Cell>> cells_;
  size_t most_cells_ = 64;  // before those of unloaded code are removed
};

}  // namespace tulle::jit
