// Looks code up in memory, then on disk, then compiles it.
#include "jit/kernel_cache.h"

#include <algorithm>

#include "jit/assemble_ptx.h"
#include "jit/build_identity.h"
#include "support/check.h"
#include "support/log.h"
#include "support/no_fork.h"

namespace tulle::jit {

namespace {

// The key of code made by this build of the library.
ContentHash on_disk(const ContentHash& key) { return hash_of({build_identity(), key.view()}); }

}  // namespace

KernelCache::KernelCache(const Symbols& imports, std::string directory)
    : engine_(imports), disk_(build_identity().empty() ? "" : std::move(directory)) {}

std::vector<std::shared_ptr<const LoadedObject>> KernelCache::find(
    const std::vector<WantedCode>& wanted, const CompileMissing& compile) {
  std::vector<CodeLookup> requests;
  for (const WantedCode& one : wanted) {
    requests.push_back({one.key, "", true, [&](std::span<const char> object) {
                          return engine_.load(object, one.kernels);
                        }});
  }
  std::vector<std::shared_ptr<const LoadedObject>> found;
  NoParallelism serial;  // the engine loads one object at a time
  for (const Code& code : find_code(requests, serial, compile)) {
    found.push_back(std::static_pointer_cast<const LoadedObject>(code));
  }
  return found;
}

std::vector<std::shared_ptr<const GpuModule>> KernelCache::find_gpu(
    const std::vector<WantedCode>& wanted, const cuda::Gpu& device, bool light,
    Parallelism& parallelism, const CompileMissing& compile) {
  const std::string place = concat("GPU ", device.ordinal, light ? ", light" : "");
  std::vector<CodeLookup> requests;
  for (const WantedCode& one : wanted) {
    const Load load = [&](std::span<const char> bytes) -> Code {
      if (light) return std::make_shared<const GpuModule>(device, bytes, one.kernels);
      return load_ptx(device, {bytes.begin(), bytes.end()}, one.kernels);
    };
    requests.push_back({one.key, place, !light, load});
  }
  std::vector<std::shared_ptr<const GpuModule>> found;
  for (const Code& code : find_code(requests, parallelism, compile)) {
    found.push_back(std::static_pointer_cast<const GpuModule>(code));
  }
  return found;
}

// The image is stored next to the text, under a key of the driver and the GPU.
std::shared_ptr<const GpuModule> KernelCache::load_ptx(const cuda::Gpu& device,
                                                       const std::string& text,
                                                       const std::vector<std::string>& kernels) {
  const ContentHash key = hash_of({build_identity(), assembler_of(device), text});
  const auto load = [&](std::span<const char> image) -> Code {
    return std::make_shared<const GpuModule>(device, image, kernels);
  };
  Code code = load_from_disk(key, load);
  if (!code) {
    const std::vector<char> image = assemble_ptx(device, text, false);
    code = load(image);
    disk_.store(key, image);
  }
  return std::static_pointer_cast<const GpuModule>(code);
}

// The cell of wanted code, and the code found for it.
struct KernelCache::LookupPlace {
  size_t request = 0;  // the first request for this code
  ContentHash on_disk;
  std::shared_ptr<CodeCell> cell;
  std::unique_lock<std::mutex> lock = {};
  Code code = nullptr;
};

std::vector<KernelCache::Code> KernelCache::find_code(const std::vector<CodeLookup>& requests,
                                                      Parallelism& parallelism,
                                                      const CompileMissing& compile) {
  const NoFork no_fork;
  // All threads lock in the order of the keys, which prevents deadlocks.
  std::map<ContentHash, LookupPlace> by_key;
  std::vector<ContentHash> keys;
  for (size_t at = 0; at < requests.size(); ++at) {
    const ContentHash built_here = on_disk(requests[at].key);
    keys.push_back(hash_of({built_here.view(), requests[at].place}));
    by_key.try_emplace(keys.back(), at, built_here, cell_of(keys.back()));
  }
  std::vector<LookupPlace*> places;
  for (auto& [key, place] : by_key) {
    place.lock = std::unique_lock(place.cell->filling, std::defer_lock);
    if (compile) {
      place.lock.lock();
    } else if (!place.lock.try_lock()) {
      continue;
    }
    places.push_back(&place);
  }
  parallel_for_or_throw(parallelism, static_cast<int>(places.size()), [&](int at) {
    LookupPlace& place = *places[static_cast<size_t>(at)];
    place.code = look_up(*place.cell, place.on_disk, requests[place.request]);
  });
  std::vector<LookupPlace*> missing;
  std::vector<size_t> numbers;
  for (LookupPlace* place : places) {
    if (place->code) {
      place->lock.unlock();
    } else {
      missing.push_back(place);
      numbers.push_back(place->request);
    }
  }
  if (!missing.empty() && compile) {
    StageTimes times;
    const std::vector<std::vector<char>> compiled = compile(numbers);
    times.end("compile");
    fill(missing, requests, compiled, parallelism);
    times.end("load and store");
    TULLE_LOG(Info, missing.size(), " of ", places.size(), " objects: ", times.text(), " ms");
  }
  std::vector<Code> found;
  for (const ContentHash& key : keys) found.push_back(by_key.at(key).code);
  return found;
}

void KernelCache::fill(const std::vector<LookupPlace*>& missing,
                       const std::vector<CodeLookup>& requests,
                       const std::vector<std::vector<char>>& compiled, Parallelism& parallelism) {
  parallel_for_or_throw(parallelism, static_cast<int>(missing.size()), [&](int number) {
    const auto at = static_cast<size_t>(number);
    LookupPlace& place = *missing[at];
    const CodeLookup& request = requests[place.request];
    place.code = request.load(compiled[at]);
    place.cell->code = place.code;
    if (request.is_kept) disk_.store(place.on_disk, compiled[at]);
    TULLE_LOG(Info, "compiled ", place.on_disk.hex(), ", ", compiled[at].size(), " bytes");
  });
}

KernelCache::Code KernelCache::look_up(CodeCell& cell, const ContentHash& on_disk,
                                       const CodeLookup& request) {
  Code code = cell.code.lock();
  if (code) {
    TULLE_LOG(Debug, "found ", on_disk.hex(), " in memory");
    return code;
  }
  if (!request.is_kept) return nullptr;
  code = load_from_disk(on_disk, request.load);
  cell.code = code;
  return code;
}

bool KernelCache::is_on_disk(const ContentHash& key) {
  const NoFork no_fork;
  return disk_.load(on_disk(key)).has_value();
}

std::shared_ptr<const LoadedObject> KernelCache::load(std::span<const char> object,
                                                      const std::vector<std::string>& kernels) {
  return engine_.load(object, kernels);
}

std::shared_ptr<KernelCache::CodeCell> KernelCache::cell_of(const ContentHash& key) {
  const std::lock_guard lock(mutex_);
  if (cells_.size() >= most_cells_) {
    std::erase_if(cells_, [](const auto& entry) {
      CodeCell& cell = *entry.second;
      if (entry.second.use_count() > 1) return false;  // a thread is filling it
      const std::lock_guard unused(cell.filling);
      return cell.code.expired();
    });
    most_cells_ = std::max<size_t>(64, 2 * cells_.size());
  }
  std::shared_ptr<CodeCell>& cell = cells_[key];
  if (!cell) cell = std::make_shared<CodeCell>();
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
    TULLE_LOG(Info, "recompiling: the cached code does not load: ", error.what());
    return nullptr;
  }
}

}  // namespace tulle::jit
