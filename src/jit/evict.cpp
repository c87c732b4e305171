// Scans the directory once and removes the oldest entries first.
#include "jit/evict.h"

#include <algorithm>
#include <ctime>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

#include "jit/content_hash.h"
#include "support/log.h"

namespace tulle::jit {

namespace {

constexpr time_t kAbandoned =
    3600;  // seconds after which a temporary file belongs to no running writer

struct DirectoryEntry {
  std::string name;
  int64_t bytes;
  timespec used;

  bool operator<(const DirectoryEntry& other) const {
    return std::pair(used.tv_sec, used.tv_nsec) < std::pair(other.used.tv_sec, other.used.tv_nsec);
  }
};

// Whether the name is a hash with one of the cache's suffixes.
bool is_ours(std::string_view name) {
  const size_t digits = 2 * sizeof(ContentHash::bytes);
  return name.find_first_not_of("0123456789abcdef") == digits &&
         name.substr(digits).starts_with(kEntrySuffix);
}

struct CloseDirectory {
  void operator()(DIR* directory) const { closedir(directory); }
};

std::vector<DirectoryEntry> entries_of(const Descriptor& directory) {
  std::vector<DirectoryEntry> entries;
  Descriptor again(openat(directory.number(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const std::unique_ptr<DIR, CloseDirectory> listing(again ? fdopendir(again.number()) : nullptr);
  if (!listing) return entries;
  again.release();  // the listing closes it
  while (const dirent* found = readdir(listing.get())) {
    struct stat status;
    if (!is_ours(found->d_name) ||
        fstatat(directory.number(), found->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0) {
      continue;
    }
    const int64_t bytes = std::max<int64_t>(status.st_size, 512 * int64_t{status.st_blocks});
    entries.push_back({found->d_name, bytes, status.st_mtim});
  }
  return entries;
}

}  // namespace

void evict(const Descriptor& directory, int64_t limit) {
  std::vector<DirectoryEntry> entries = entries_of(directory);
  // A missing file was removed by a concurrent eviction.
  const auto remove = [&](const DirectoryEntry& entry) {
    unlinkat(directory.number(), entry.name.c_str(), 0);
  };
  const time_t now = std::time(nullptr);
  int64_t bytes = 0;
  std::erase_if(entries, [&](const DirectoryEntry& entry) {
    const bool is_left_over =
        entry.name.ends_with(kTemporarySuffix) && now - entry.used.tv_sec > kAbandoned;
    if (is_left_over) {
      remove(entry);
    } else {
      bytes += entry.bytes;
    }
    return is_left_over;
  });
  if (bytes <= limit / 16 * 15) return;
  std::sort(entries.begin(), entries.end());
  size_t removed = 0;
  for (; removed < entries.size() && bytes > limit / 4 * 3; ++removed) {
    remove(entries[removed]);
    bytes -= entries[removed].bytes;
  }
  TULLE_LOG(Info, "removed ", removed, " of ", entries.size(), " entries of the kernel cache");
}

}  // namespace tulle::jit
