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

std::vector<std::shared_ptr<const LoadedObject>> KernelCache::find(
    const std::vector<WantedCode>& wanted, const CompileMissing& compile) {
  std::vector<Request> requests;
  for (const WantedCode& one : wanted) {
    requests.push_back({one.key, "", [&](std::span<const char> object) {
                          return engine_.load(object, one.kernels);
                        }});
  }
  std::vector<std::shared_ptr<const LoadedObject>> found;
  for (const Code& code : find_code(requests, compile)) {
    found.push_back(std::static_pointer_cast<const LoadedObject>(code));
  }
  return found;
}

std::shared_ptr<const GpuModule> KernelCache::find_gpu(const ContentHash& key,
                                                       const cuda::Device& device,
                                                       const std::vector<std::string>& kernels,
                                                       const CompilePtx& compile) {
  const auto load = [&](std::span<const char> text) {
    return std::make_shared<const GpuModule>(device, std::string(text.begin(), text.end()),
                                             kernels);
  };
  const auto compile_bytes = [&](const std::vector<size_t>&) {
    const std::string text = compile();
    return std::vector<std::vector<char>>{{text.begin(), text.end()}};
  };
  const Request request{key, concat("GPU ", device.ordinal), load};
  return std::static_pointer_cast<const GpuModule>(find_code({request}, compile_bytes)[0]);
}

std::vector<KernelCache::Code> KernelCache::find_code(const std::vector<Request>& requests,
                                                      const CompileMissing& compile) {
  struct Place {
    size_t request = 0;  // the first that wants it
    ContentHash on_disk;
    std::shared_ptr<Cell> cell;
    std::unique_lock<std::mutex> lock = {};
    Code code = nullptr;
  };
  const NoFork no_fork;
  // All lock in the order of the keys, so that nobody waits for somebody who waits for them.
  std::map<ContentHash, Place> places;
  std::vector<ContentHash> keys;
  for (size_t at = 0; at < requests.size(); ++at) {
    const ContentHash built_here = hash_of({build_identity(), requests[at].key.view()});
    keys.push_back(hash_of({built_here.view(), requests[at].place}));
    places.try_emplace(keys.back(), at, built_here, cell_of(keys.back()));
  }
  std::vector<Place*> missing;
  std::vector<size_t> numbers;
  for (auto& [key, place] : places) {
    place.lock = std::unique_lock(place.cell->filling);
    place.code = look_up(*place.cell, place.on_disk, requests[place.request].load);
    if (place.code) {
      place.lock.unlock();
    } else {
      missing.push_back(&place);
      numbers.push_back(place.request);
    }
  }
  if (!missing.empty()) {
    StageTimes times;
    const std::vector<std::vector<char>> compiled = compile(numbers);
    times.end("compile");
    for (size_t at = 0; at < missing.size(); ++at) {
      Place& place = *missing[at];
      place.code = requests[place.request].load(compiled[at]);
      place.cell->code = place.code;
      times.end("load");
      disk_.store(place.on_disk, compiled[at]);
      times.end("store");
      TULLE_LOG(Info, "compiled ", place.on_disk.hex(), ", ", compiled[at].size(), " bytes");
    }
    TULLE_LOG(Info, missing.size(), " of ", places.size(), " objects: ", times.text(), " ms");
  }
  std::vector<Code> found;
  for (const ContentHash& key : keys) found.push_back(places.at(key).code);
  return found;
}

KernelCache::Code KernelCache::look_up(Cell& cell, const ContentHash& on_disk, const Load& load) {
  Code code = cell.code.lock();
  if (code) {
    TULLE_LOG(Debug, "found ", on_disk.hex(), " in memory");
    return code;
  }
  code = load_from_disk(on_disk, load);
  cell.code = code;
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
