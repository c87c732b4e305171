// A cache of object files and texts on disk, keyed by the hash of their inputs.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "jit/content_hash.h"
#include "jit/private_directory.h"

namespace tulle::jit {

// A directory that any number of threads and processes share. Every fault (no space, no permission,
// damaged or foreign entries, processes killed while writing) reads as a missing entry: the cache
// never raises and never returns data that was not stored.
class DiskCache {
 public:
  static constexpr int64_t kLimit = int64_t{1} << 30;

  // An empty directory name disables the cache. `limit` bounds the total bytes of all entries.
  explicit DiskCache(std::string directory, int64_t limit = kLimit);

  std::optional<std::vector<char>> load(const ContentHash& key);
  // Returns whether the entry was stored.
  bool store(const ContentHash& key, std::span<const char> object);

 private:
  Descriptor open();

  const std::string directory_;
  const int64_t limit_;
  std::atomic<bool> has_complained_ = false;
};

}  // namespace tulle::jit
