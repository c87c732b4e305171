// The three places where code is found, in the order in which they are looked at.
#include "jit/kernel_cache.h"

#include <algorithm>

#include "jit/build_identity.h"
#include "support/check.h"
#include "support/log.h"
#include "support/no_fork.h"

namespace tulle::jit {

KernelCache::KernelCache(const Symbols& imports, std::string directory)
    : engine_(imports), disk_(build_identity().empty() ? "" : std::move(directory)) {}

std::shared_ptr<const LoadedObject> KernelCache::find(const ContentHash& key,
                                                      const std::vector<std::string>& kernels,
                                                      const Compile& compile) {
  const auto load = [&](std::span<const char> object) { return engine_.load(object, kernels); };
  return std::static_pointer_cast<const LoadedObject>(find_code(key, "", load, compile));
}

std::shared_ptr<const GpuModule> KernelCache::find_gpu(const ContentHash& key,
                                                       const cuda::Device& device,
                                                       const std::vector<std::string>& kernels,
                                                       const CompilePtx& compile) {
  const auto load = [&](std::span<const char> text) {
    return std::make_shared<const GpuModule>(device, std::string(text.begin(), text.end()),
                                             kernels);
  };
  const auto compile_bytes = [&] {
    const std::string text = compile();
    return std::vector<char>(text.begin(), text.end());
  };
  const std::string place = concat("GPU ", device.ordinal);
  return std::static_pointer_cast<const GpuModule>(find_code(key, place, load, compile_bytes));
}

KernelCache::Code KernelCache::find_code(const ContentHash& key, std::string_view place,
                                         const Load& load, const Compile& compile) {
  const NoFork no_fork;
  const ContentHash built_here = hash_of({build_identity(), key.view()});
  const std::shared_ptr<Cell> cell = cell_of(hash_of({built_here.view(), place}));
  const std::lock_guard lock(cell->filling);
  Code code = cell->code.lock();
  if (code) {
    TULLE_LOG(Debug, "found ", built_here.hex(), " in memory");
    return code;
  }
  code = load_from_disk(built_here, load);
  if (!code) {
    StageTimes times;
    const std::vector<char> bytes = compile();
    times.end("compile");
    code = load(bytes);
    times.end("load");
    disk_.store(built_here, bytes);
    times.end("store");
    TULLE_LOG(Info, "compiled ", built_here.hex(), ", ", bytes.size(), " bytes: ", times.text(),
              " ms");
  }
  cell->code = code;
  return code;
}

std::shared_ptr<const LoadedObject> KernelCache::load(std::span<const char> object,
                                                      const std::vector<std::string>& kernels) {
  return engine_.load(object, kernels);
}

std::shared_ptr<KernelCache::Cell> KernelCache::cell_of(const ContentHash& key) {
  const std::lock_guard lock(mutex_);
  if (cells_.size() >= most_cells_) {
    std::erase_if(cells_, [](const auto& entry) {
      Cell& cell = *entry.second;
      if (entry.second.use_count() > 1) return false;  // somebody is filling it
      const std::lock_guard unused(cell.filling);
      return cell.code.expired();
    });
    most_cells_ = std::max<size_t>(64, 2 * cells_.size());
  }
  std::shared_ptr<Cell>& cell = cells_[key];
  if (!cell) cell = std::make_shared<Cell>();
  return cell;
}

KernelCache::Code KernelCache::load_from_disk(const ContentHash& key, const Load& load) {
  StageTimes times;
  const auto bytes = disk_.load(key);
  times.end("read");
  if (!bytes) return nullptr;
  try {
    Code code = load(*bytes);
    times.end("load");
    TULLE_LOG(Info, "loaded ", key.hex(), ", ", bytes->size(), " bytes, from disk: ", times.text(),
              " ms");
    return code;
  } catch (const InternalError& error) {
    TULLE_LOG(Info, "compiling anew what the kernel cache had: ", error.what());
    return nullptr;
  }
}

}  // namespace tulle::jit
