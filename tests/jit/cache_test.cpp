// The disk cache: hits, rejected entries, and concurrent changes of the directory.
#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include <gtest/gtest.h>

#include "jit/build_identity.h"
#include "jit/cache_fixture.h"
#include "jit/evict.h"

namespace tulle::jit {
namespace {

TEST(ContentHash, TellsPartsApart) {
  EXPECT_EQ(hash_of({"ab", "c"}), hash_of({"ab", "c"}));
  EXPECT_NE(hash_of({"ab", "c"}), hash_of({"a", "bc"}));
  EXPECT_NE(hash_of({"ab", ""}), hash_of({"ab"}));
  EXPECT_EQ(hash_of({"ab"}).hex().size(), 40U);
}

TEST(BuildIdentity, IsKnown) {
  EXPECT_FALSE(build_identity().empty());
  EXPECT_NE(build_identity().find("LLVM 22"), std::string::npos);
}

TEST_F(CacheTest, FindsWhatWasStored) {
  DiskCache first = cache();
  EXPECT_EQ(first.load(key(1)), std::nullopt);
  first.store(key(1), bytes(1000, 'a'));
  first.store(key(2), bytes(0, 'b'));
  DiskCache second = cache();
  EXPECT_EQ(second.load(key(1)), bytes(1000, 'a'));
  EXPECT_EQ(second.load(key(2)), bytes(0, 'b'));
  EXPECT_EQ(second.load(key(3)), std::nullopt);
  second.store(key(1), bytes(10, 'c'));
  EXPECT_EQ(first.load(key(1)), bytes(10, 'c'));
  EXPECT_EQ(file_count(), 2U);
}

TEST_F(CacheTest, IsForTheUserOnly) {
  directory_ = parent_ / "deeply" / "nested" / "cache";
  cache().store(key(1), bytes(10, 'a'));
  EXPECT_EQ(fs::status(directory_).permissions(), fs::perms::owner_all);
  EXPECT_EQ(fs::status(directory_.parent_path()).permissions(), fs::perms::owner_all);
  EXPECT_EQ(fs::status(file_of(1)).permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(CacheTest, RefusesDirectoriesThatOthersCanWrite) {
  cache().store(key(1), bytes(10, 'a'));
  for (const fs::perms wrong : {fs::perms::group_write, fs::perms::others_write}) {
    fs::permissions(directory_, fs::perms::owner_all | wrong);
    EXPECT_EQ(cache().load(key(1)), std::nullopt);
    cache().store(key(2), bytes(10, 'a'));
    EXPECT_EQ(file_count(), 1U);
  }
  fs::permissions(directory_, fs::perms::owner_all | fs::perms::others_read);
  EXPECT_EQ(cache().load(key(1)), bytes(10, 'a'));
}

TEST_F(CacheTest, RefusesEntriesThatOthersCanWrite) {
  cache().store(key(1), bytes(10, 'a'));
  fs::permissions(file_of(1), fs::perms::owner_all | fs::perms::others_write);
  EXPECT_EQ(cache().load(key(1)), std::nullopt);
  cache().store(key(1), bytes(10, 'b'));
  EXPECT_EQ(cache().load(key(1)), bytes(10, 'b'));
}

TEST_F(CacheTest, RefusesWhatBelongsToAnotherUser) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  cache().store(key(1), bytes(10, 'a'));
  ASSERT_EQ(chown(file_of(1).c_str(), 12345, 12345), 0);
  EXPECT_EQ(cache().load(key(1)), std::nullopt);
  cache().store(key(1), bytes(10, 'b'));
  EXPECT_EQ(cache().load(key(1)), bytes(10, 'b'));
  ASSERT_EQ(chown(directory_.c_str(), 12345, 12345), 0);
  EXPECT_EQ(cache().load(key(1)), std::nullopt);
}

TEST_F(CacheTest, FollowsNoLinksToEntries) {
  cache().store(key(1), bytes(10, 'a'));
  fs::rename(file_of(1), parent_ / "elsewhere");
  fs::create_symlink(parent_ / "elsewhere", file_of(1));
  EXPECT_EQ(cache().load(key(1)), std::nullopt);
  cache().store(key(1), bytes(10, 'b'));
  EXPECT_EQ(cache().load(key(1)), bytes(10, 'b'));
  EXPECT_FALSE(fs::is_symlink(file_of(1)));
  EXPECT_TRUE(fs::exists(parent_ / "elsewhere"));
}

TEST_F(CacheTest, RefusesDamagedEntries) {
  for (const size_t at : {size_t{0}, size_t{19}, size_t{20}, size_t{1019}}) {
    cache().store(key(1), bytes(1000, 'a'));
    change(1, [&](std::string& content) { content[at] = static_cast<char>(content[at] ^ 1); });
    EXPECT_EQ(cache().load(key(1)), std::nullopt) << at;
  }
  for (const size_t size : {0, 5, 20, 21, 1019, 1021, 5000}) {
    cache().store(key(1), bytes(1000, 'a'));
    change(1, [&](std::string& content) { content.resize(size, 'a'); });
    EXPECT_EQ(cache().load(key(1)), std::nullopt) << size;
  }
  cache().store(key(1), bytes(1000, 'a'));
  EXPECT_EQ(cache().load(key(1)), bytes(1000, 'a'));
  fs::copy_file(file_of(1), file_of(2));
  EXPECT_EQ(cache().load(key(2)), std::nullopt) << "an entry under another's name";
}

TEST_F(CacheTest, LeavesThingsThatAreNoFilesAlone) {
  cache().store(key(1), bytes(10, 'a'));
  fs::create_directory(file_of(2));
  ASSERT_EQ(mkfifo(file_of(3).c_str(), 0600), 0);
  for (const int number : {2, 3}) EXPECT_EQ(cache().load(key(number)), std::nullopt);
  cache().store(key(2), bytes(10, 'a'));
  EXPECT_EQ(cache().load(key(2)), std::nullopt);
  EXPECT_EQ(file_count(), 3U) << "a temporary file was left";
}

TEST_F(CacheTest, GoesOnWithoutADirectory) {
  DiskCache(std::string()).store(key(1), bytes(10, 'a'));
  EXPECT_EQ(DiskCache(std::string()).load(key(1)), std::nullopt);
  std::ofstream(parent_ / "file") << "not a directory";
  DiskCache wrong((parent_ / "file" / "cache").string());
  wrong.store(key(1), bytes(10, 'a'));
  EXPECT_EQ(wrong.load(key(1)), std::nullopt);
  DiskCache removed = cache();
  removed.store(key(1), bytes(10, 'a'));
  fs::remove_all(directory_);
  EXPECT_EQ(removed.load(key(1)), std::nullopt);
  removed.store(key(1), bytes(10, 'b'));
  EXPECT_EQ(removed.load(key(1)), bytes(10, 'b'));
}

TEST_F(CacheTest, ReadsFromAReadOnlyDirectory) {
  cache().store(key(1), bytes(10, 'a'));
  if (geteuid() == 0) fs::permissions(parent_, fs::perms::owner_all | fs::perms::group_exec);
  in_child([&] {
    if (geteuid() == 0) {  // permissions do not restrict root
      if (chown(directory_.c_str(), 12345, 12345) != 0) return false;
      if (chown(file_of(1).c_str(), 12345, 12345) != 0 || setuid(12345) != 0) return false;
    }
    fs::permissions(directory_, fs::perms::owner_read | fs::perms::owner_exec);
    cache().store(key(2), bytes(10, 'b'));
    return cache().load(key(1)) == bytes(10, 'a') && cache().load(key(2)) == std::nullopt &&
           file_count() == 1;
  });
}

TEST_F(CacheTest, LeavesNothingOnAFullDisk) {
  cache().store(key(1), bytes(10, 'a'));
  in_child([&] {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit smallest{100, 100};  // writing more fails, after some bytes
    if (setrlimit(RLIMIT_FSIZE, &smallest) != 0) return false;
    cache().store(key(2), bytes(1000, 'b'));
    return cache().load(key(2)) == std::nullopt && file_count() == 1;
  });
  EXPECT_EQ(cache().load(key(1)), bytes(10, 'a'));
}

TEST_F(CacheTest, ManyProcessesWriteAtOnce) {
  constexpr int kProcesses = 6, kKeys = 12, kRounds = 200;
  // All store the same bytes under one key, as compilers do: the key determines the bytes.
  const auto object = [](int number) { return bytes(1000 + 70 * size_t(number), char(number)); };
  std::vector<pid_t> children;
  for (int process = 0; process < kProcesses; ++process) {
    children.push_back(fork());
    if (children.back() != 0) continue;
    alarm(60);
    DiskCache shared = cache(32 << 10);  // so small that entries are evicted all the time
    for (int round = 0; round < kRounds; ++round) {
      const int number = (round + process) % kKeys;
      const auto found = shared.load(key(number));
      if (found && found != object(number)) _exit(1);
      shared.store(key(number), object(number));
    }
    _exit(0);
  }
  for (const pid_t child : children) {
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  for (const auto& entry : fs::directory_iterator(directory_)) {
    EXPECT_EQ(entry.path().extension(), ".o");
  }
}

TEST_F(CacheTest, KilledWritersDoNoHarm) {
  cache().store(key(0), bytes(10, 'a'));
  for (int round = 0; round < 20; ++round) {
    const pid_t child = fork();
    if (child == 0) {
      DiskCache writer = cache();
      for (int number = 1;; ++number)
        writer.store(key(number % 10), bytes(100000, char(number % 10)));
    }
    usleep(static_cast<useconds_t>(1000 * round));
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    for (int number = 1; number < 10; ++number) {
      const auto found = cache().load(key(number));
      EXPECT_TRUE(!found || found == bytes(100000, char(number)));
    }
  }
  // Leftover files are removed once no writer can still use them.
  const fs::path old = directory_ / (key(77).hex() + ".o.1-2-3.tmp");
  const fs::path young = directory_ / (key(78).hex() + ".o.1-2-3.tmp");
  for (const fs::path& path : {old, young}) std::ofstream(path) << "half";
  set_age(old, 7200);
  std::string problem;
  evict(open_private_directory(directory_.string(), problem), DiskCache::kLimit);
  EXPECT_FALSE(fs::exists(old));
  EXPECT_TRUE(fs::exists(young));
}

TEST_F(CacheTest, RemovesTheLeastRecentlyUsed) {
  constexpr int64_t kEntry = 64 << 10, kLimit = 32 * kEntry;
  for (int number = 0; number < 20; ++number) {
    cache(kLimit).store(key(number), bytes(kEntry - 100, 'a'));
    set_age(file_of(number), 10000 - number);
  }
  EXPECT_EQ(file_count(), 20U);
  EXPECT_NE(cache(kLimit).load(key(0)), std::nullopt);  // the oldest, but used now
  const fs::path foreign = directory_ / "notes.txt";
  std::ofstream(foreign) << std::string(2 * kLimit, 'x');
  set_age(foreign, 100000);
  for (int number = 20; number < 32; ++number) {
    cache(kLimit).store(key(number), bytes(kEntry - 100, 'a'));
  }
  EXPECT_TRUE(fs::exists(foreign));
  EXPECT_TRUE(fs::exists(file_of(0)));
  EXPECT_FALSE(fs::exists(file_of(1)));
  EXPECT_TRUE(fs::exists(file_of(19)));
  EXPECT_TRUE(fs::exists(file_of(31)));
  EXPECT_LE(file_count(), 32U);
  EXPECT_GE(file_count(), 24U);
}

TEST_F(CacheTest, StaysBelowItsLimit) {
  constexpr int64_t kLimit = 4 << 20;
  int64_t most = 0;
  for (int number = 0; number < 3000; ++number) {
    cache(kLimit).store(key(number), bytes(4000, 'a'));
    if (number % 50 != 0) continue;
    int64_t sum = 0;
    for (const auto& entry : fs::directory_iterator(directory_)) {
      sum += static_cast<int64_t>(entry.file_size());
    }
    most = std::max(most, sum);
  }
  EXPECT_LE(most, kLimit);
  EXPECT_GE(most, kLimit / 2);
  cache(kLimit).store(key(5000), bytes(kLimit / 2, 'a'));
  EXPECT_EQ(cache(kLimit).load(key(5000)), std::nullopt) << "too large for this cache";
}

TEST_F(CacheTest, TheEnvironmentNamesTheDirectory) {
  in_child([] {
    unsetenv("TULLE_CACHE");
    unsetenv("TULLE_CACHE_DIR");
    unsetenv("XDG_CACHE_HOME");
    setenv("HOME", "/home/me", 1);
    bool right = cache_directory_from_environment() == "/home/me/.cache/tulle";
    setenv("XDG_CACHE_HOME", "relative", 1);
    right = right && cache_directory_from_environment() == "/home/me/.cache/tulle";
    setenv("XDG_CACHE_HOME", "/caches", 1);
    right = right && cache_directory_from_environment() == "/caches/tulle";
    setenv("TULLE_CACHE_DIR", "here", 1);
    right = right && cache_directory_from_environment() == "here";
    setenv("TULLE_CACHE", "0", 1);
    right = right && cache_directory_from_environment().empty();
    return right;
  });
}

}  // namespace
}  // namespace tulle::jit
