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
#include "support/parallelism.h"

namespace tulle::jit {

// All functions may be called from any thread, and in the child after a fork.
class KernelCache {
 public:
  // `directory` as for DiskCache.
  KernelCache(const Symbols& imports, std::string directory);

  // `key` must say everything that the code depends on but the build of this library; `kernels` are
  // the names that will be asked for.
  struct WantedCode {
    ContentHash key;
    std::vector<std::string> kernels;
  };
  // Makes the object files of those of what is wanted that have these numbers, in that order.
  using CompileMissing =
      std::function<std::vector<std::vector<char>>(const std::vector<size_t>& missing)>;

  // All that is wanted; `compile` is called at most once, for what is found nowhere. The same code
  // is never loaded twice at a time, nor compiled twice at once: whoever comes second waits.
  // Without `compile` nobody waits, and what is not there, or not yet, is null.
  std::vector<std::shared_ptr<const LoadedObject>> find(const std::vector<WantedCode>& wanted,
                                                        const CompileMissing& compile);

  // The same for a GPU, where `compile` makes PTX. Code is loaded once for each GPU. Assembling it
  // takes longest: `parallelism` has the threads for several at a time. Of light code
  // (codegen::Target) `compile` makes the image itself, which is not kept on disk.
  std::vector<std::shared_ptr<const GpuModule>> find_gpu(const std::vector<WantedCode>& wanted,
                                                         const cuda::Device& device, bool light,
                                                         Parallelism& parallelism,
                                                         const CompileMissing& compile);

  // Whether it is found there under this key, without being loaded.
  bool is_on_disk(const ContentHash& key);

  // The code of an object file that is not kept.
  std::shared_ptr<const LoadedObject> load(std::span<const char> object,
                                           const std::vector<std::string>& kernels);

  // Where code is kept beyond the process, for what goes with it.
  DiskCache& disk() { return disk_; }

 private:
  struct CodeCell {
    std::mutex filling;
    std::weak_ptr<const void> code;
  };
  using Code = std::shared_ptr<const void>;
  using Load = std::function<Code(std::span<const char> bytes)>;

  // `place` tells apart what the same bytes become in several places.
  struct CodeLookup {
    ContentHash key;
    std::string place;
    bool is_kept;  // on disk
    Load load;
  };

  std::vector<Code> find_code(const std::vector<CodeLookup>& requests, Parallelism& parallelism,
                              const CompileMissing& compile);
  struct LookupPlace;
  // Loads what was compiled and puts it on disk, the code of each missing place.
  void fill(const std::vector<LookupPlace*>& missing, const std::vector<CodeLookup>& requests,
            const std::vector<std::vector<char>>& compiled, Parallelism& parallelism);
  std::shared_ptr<const GpuModule> load_ptx(const cuda::Device& device, const std::string& text,
                                            const std::vector<std::string>& kernels);
  // In memory or on disk; null where it is in neither.
  Code look_up(CodeCell& cell, const ContentHash& on_disk, const CodeLookup& request);
  std::shared_ptr<CodeCell> cell_of(const ContentHash& key);
  Code load_from_disk(const ContentHash& key, const Load& load);

  Engine engine_;
  DiskCache disk_;
  std::mutex mutex_;  // guards what follows
  std::map<ContentHash, std::shared_ptr<CodeCell>> cells_;
  size_t most_cells_ = 64;  // before those of unloaded code are removed
};

}  // namespace tulle::jit
