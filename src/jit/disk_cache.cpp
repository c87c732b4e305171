// An entry is one file: the checksum of key and object, followed by the object. It is written under
// a temporary name and renamed, so that readers see all of it or nothing. There is no fsync: a file
// damaged by a machine crash fails its checksum.
#include "jit/disk_cache.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "jit/evict.h"
#include "support/log.h"

namespace tulle::jit {

namespace {

constexpr size_t kChecksum = sizeof(ContentHash::bytes);
constexpr time_t kFresh = 60;  // seconds in which further uses are not recorded

std::string_view text_of(std::span<const char> bytes) { return {bytes.data(), bytes.size()}; }

ContentHash checksum_of(const ContentHash& key, std::span<const char> object) {
  return hash_of({"tulle object 1", key.view(), text_of(object)});
}

bool read_all(int file, std::span<char> into) {
  while (!into.empty()) {
    const ssize_t count = read(file, into.data(), into.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    into = into.subspan(static_cast<size_t>(count));
  }
  return true;
}

bool write_all(int file, std::string_view from) {
  while (!from.empty()) {
    const ssize_t count = write(file, from.data(), from.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    from.remove_prefix(static_cast<size_t>(count));
  }
  return true;
}

// Records the time of the last use as the file's modification time.
void note_use(int file, const struct stat& status) {
  if (std::time(nullptr) - status.st_mtim.tv_sec > kFresh) futimens(file, nullptr);
}

// A name that no other writer uses.
std::string temporary_name(const std::string& entry) {
  static std::atomic<uint64_t> count = 0;
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return concat(entry, ".", getpid(), "-", now.tv_sec, now.tv_nsec, "-", count++, kTemporarySuffix);
}

// Whether to scan the directory after storing this entry: on average once per 1/128 of the limit,
// regardless of how many processes write.
bool eviction_is_due(const ContentHash& key, size_t size, int64_t limit) {
  uint32_t draw = 0;
  std::memcpy(&draw, key.bytes.data(), sizeof draw);
  const size_t on_disk = std::max<size_t>(size, 4096);  // at least one block
  return static_cast<double>(draw) / 0x1p32 * static_cast<double>(limit) <
         128.0 * static_cast<double>(on_disk);
}

}  // namespace

DiskCache::DiskCache(std::string directory, int64_t limit)
    : directory_(std::move(directory)), limit_(limit) {}

// Opens and checks the directory for each access, in microseconds. The directory may be removed or
// replaced while the process runs, and a fork leaves no state to repair.
Descriptor DiskCache::open() {
  if (directory_.empty()) return Descriptor();
  std::string problem;
  Descriptor directory = open_private_directory(directory_, problem);
  if (!directory && !has_complained_.exchange(true)) {
    TULLE_LOG(Info, "cannot use the kernel cache in ", directory_, ": ", problem);
  }
  return directory;
}

std::optional<std::vector<char>> DiskCache::load(const ContentHash& key) {
  const Descriptor directory = open();
  if (!directory) return std::nullopt;
  const Descriptor file = open_private_file(directory, key.hex() + kEntrySuffix);
  struct stat status;
  if (!file || fstat(file.number(), &status) != 0) return std::nullopt;
  if (status.st_size < static_cast<off_t>(kChecksum) || status.st_size > limit_)
    return std::nullopt;
  ContentHash checksum;
  std::vector<char> object(static_cast<size_t>(status.st_size) - kChecksum);
  const std::span<char> head(reinterpret_cast<char*>(checksum.bytes.data()), kChecksum);
  const bool is_whole = read_all(file.number(), head) && read_all(file.number(), object) &&
                        checksum == checksum_of(key, object);
  if (!is_whole) {
    TULLE_LOG(Info, "recompiling: the kernel cache entry ", key.hex(), " is damaged");
    return std::nullopt;
  }
  note_use(file.number(), status);
  return object;
}

bool DiskCache::store(const ContentHash& key, std::span<const char> object) {
  if (static_cast<int64_t>(object.size() + kChecksum) > limit_ / 16) return false;
  const Descriptor directory = open();
  if (!directory) return false;
  const std::string entry = key.hex() + kEntrySuffix, temporary = temporary_name(entry);
  const Descriptor file(openat(directory.number(), temporary.c_str(),
                               O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  const bool is_stored =
      file && write_all(file.number(), checksum_of(key, object).view()) &&
      write_all(file.number(), text_of(object)) &&
      renameat(directory.number(), temporary.c_str(), directory.number(), entry.c_str()) == 0;
  if (!is_stored) {
    TULLE_LOG(Debug, "not stored in the kernel cache: ", std::strerror(errno));
    if (file) unlinkat(directory.number(), temporary.c_str(), 0);
  }
  if (eviction_is_due(key, object.size(), limit_)) evict(directory, limit_);
  return is_stored;
}

}  // namespace tulle::jit
