// Object files and texts on disk, found by the hash of what they were made from.
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

// A directory that any number of threads and processes use at the same time. Whatever goes wrong
// with it (no space, no permission, damaged or foreign entries, processes killed while writing)
// reads as an entry that is not there: the cache never raises and never hands out what was not
// stored.
class DiskCache {
 public:
  static constexpr int64_t kLimit = int64_t{1} << 30;

  // No cache if the directory's name is empty. `limit` bounds the bytes of all entries.
  explicit DiskCache(std::string directory, int64_t limit = kLimit);

  std::optional<std::vector<char>> load(const ContentHash& key);
  // Whether it was stored.
  bool store(const ContentHash& key, std::span<const char> object);

 private:
  Descriptor open();

  const std::string directory_;
  const int64_t limit_;
  std::atomic<bool> has_complained_ = false;
};

}  // namespace tulle::jit
