// The kernel cache: what is found again, what is refused, and what others do to the directory.
#include <algorithm>
#include <atomic>
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

#include "codegen/emit.h"
#include "jit/build_identity.h"
#include "jit/disk_cache.h"
#include "jit/evict.h"
#include "jit/kernel_cache.h"
#include "loop/parse.h"
#include "support/check.h"

namespace tulle::jit {
namespace {

namespace fs = std::filesystem;

ContentHash key(int number) { return hash_of({"a test", std::to_string(number)}); }

std::vector<char> bytes(size_t count, char value) { return std::vector<char>(count, value); }

// A kernel that writes `number`.
std::vector<char> compile(int number) {
  const auto kernel =
      loop::parse_kernel(concat("kernel answer(C: mut i64*) { C[0] = ", number, " }"));
  return codegen::object(codegen::emit_cpu({kernel}, codegen::host_target()));
}

int64_t answer_of(const LoadedObject& object) {
  int64_t answer = 0;
  void* buffers[] = {&answer};
  EXPECT_EQ(object.kernel("answer")(nullptr, buffers, nullptr, 0, 0), loop::kKernelOk);
  return answer;
}

// Runs in a child process, which must end well.
template <typename Action>
void in_child(const Action& action) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    _exit(action() ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

class CacheTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string place = (fs::temp_directory_path() / "tulle-cache-XXXXXX").string();
    ASSERT_NE(mkdtemp(place.data()), nullptr);
    parent_ = place;
    directory_ = parent_ / "cache";
  }

  void TearDown() override {
    if (fs::exists(directory_)) fs::permissions(directory_, fs::perms::owner_all);
    fs::remove_all(parent_);
  }

  DiskCache cache(int64_t limit = DiskCache::kLimit) {
    return DiskCache(directory_.string(), limit);
  }

  fs::path file_of(int number) const { return directory_ / (key(number).hex() + ".o"); }

  size_t file_count() const {
    return static_cast<size_t>(
        std::distance(fs::directory_iterator(directory_), fs::directory_iterator()));
  }

  // Rewrites the bytes of an entry.
  void change(int number, const std::function<void(std::string&)>& edit) {
    std::ifstream in(file_of(number), std::ios::binary);
    std::string content((std::istreambuf_iterator<char>(in)), {});
    edit(content);
    std::ofstream(file_of(number), std::ios::binary) << content;
  }

  void set_age(const fs::path& file, int seconds) {
    fs::last_write_time(file, fs::file_time_type::clock::now() - std::chrono::seconds(seconds));
  }

  fs::path parent_, directory_;
};

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
    if (geteuid() == 0) {  // whom no permission stops
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
  // All store the same for one key, as compilers do: the bytes follow from the key.
  const auto object = [](int number) { return bytes(1000 + 70 * size_t(number), char(number)); };
  std::vector<pid_t> children;
  for (int process = 0; process < kProcesses; ++process) {
    children.push_back(fork());
    if (children.back() != 0) continue;
    alarm(60);
    DiskCache shared = cache(32 << 10);  // so small that entries are removed all the time
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
  // What they left is removed once nobody can be writing it any more.
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

class KernelCacheTest : public CacheTest {
 protected:
  // Code that answers `number`; counts how often it had to be compiled.
  std::shared_ptr<const LoadedObject> find(KernelCache& kernels, int number) {
    return find_all(kernels, {number})[0];
  }
  std::vector<std::shared_ptr<const LoadedObject>> find_all(KernelCache& kernels,
                                                            const std::vector<int>& numbers) {
    std::vector<KernelCache::WantedCode> wanted;
    for (const int number : numbers) wanted.push_back({key(number), {"answer"}});
    return kernels.find(wanted, [&](const std::vector<size_t>& missing) {
      std::vector<std::vector<char>> objects;
      for (const size_t at : missing) objects.push_back(compile(numbers[at]));
      compiled_ += static_cast<int>(missing.size());
      return objects;
    });
  }

  std::atomic<int> compiled_ = 0;
};

TEST_F(KernelCacheTest, CompilesOnce) {
  KernelCache kernels({}, directory_.string());
  const auto first = find(kernels, 1);
  EXPECT_EQ(answer_of(*first), 1);
  EXPECT_EQ(find(kernels, 1), first);
  EXPECT_EQ(answer_of(*find(kernels, 2)), 2);
  EXPECT_EQ(compiled_, 2);
  KernelCache others({}, directory_.string());
  EXPECT_EQ(answer_of(*find(others, 1)), 1);
  EXPECT_EQ(compiled_, 2);
}

TEST_F(KernelCacheTest, SeveralAreFoundInTheirOrder) {
  KernelCache kernels({}, directory_.string());
  const auto five = find(kernels, 5);
  const auto found = find_all(kernels, {7, 5, 3, 7});
  EXPECT_EQ(compiled_, 3);
  EXPECT_EQ(found[1], five);
  EXPECT_EQ(found[0], found[3]);
  EXPECT_EQ(answer_of(*found[0]), 7);
  EXPECT_EQ(answer_of(*found[2]), 3);
  KernelCache others({}, directory_.string());
  EXPECT_EQ(answer_of(*find_all(others, {3, 9, 5})[1]), 9);
  EXPECT_EQ(compiled_, 4);
}

TEST_F(KernelCacheTest, WhoeverDoesNotCompileDoesNotWait) {
  KernelCache kernels({}, directory_.string());
  const std::vector<KernelCache::WantedCode> wanted = {{key(1), {"answer"}}};
  EXPECT_EQ(kernels.find(wanted, {})[0], nullptr);
  const auto found = kernels.find(wanted, [&](const std::vector<size_t>&) {
    std::thread([&] { EXPECT_EQ(kernels.find(wanted, {})[0], nullptr); }).join();
    return std::vector<std::vector<char>>{compile(1)};
  });
  EXPECT_EQ(kernels.find(wanted, {})[0], found[0]);
}

// Programs that share some of their kernels, each thread in another order.
TEST_F(KernelCacheTest, ThreadsThatWantSeveralDoNotBlockEachOther) {
  KernelCache kernels({}, "");
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int round = 0; round < 30; ++round) {
        std::vector<int> numbers = {round, round + 1, round + 2};
        std::rotate(numbers.begin(), numbers.begin() + t % 3, numbers.end());
        const auto found = find_all(kernels, numbers);
        for (size_t at = 0; at < 3; ++at) EXPECT_EQ(answer_of(*found[at]), numbers[at]);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_F(KernelCacheTest, UnloadsCodeThatNobodyHolds) {
  KernelCache kernels({}, "");
  const std::weak_ptr<const LoadedObject> code = find(kernels, 1);
  EXPECT_TRUE(code.expired());
  for (int number = 0; number < 200; ++number) {
    const auto found = kernels.find({{key(number), {"answer"}}}, [&](const auto&) {
      return std::vector<std::vector<char>>{compile(1)};
    });
    EXPECT_EQ(answer_of(*found[0]), 1);
  }
  EXPECT_EQ(answer_of(*find(kernels, 1)), 1);
  EXPECT_EQ(compiled_, 2);
}

TEST_F(KernelCacheTest, RebuildsWhatIsNoObject) {
  DiskCache disk = cache();
  disk.store(hash_of({build_identity(), key(1).view()}), bytes(100, 'x'));
  KernelCache kernels({}, directory_.string());
  EXPECT_EQ(answer_of(*find(kernels, 1)), 1);
  KernelCache others({}, directory_.string());
  EXPECT_EQ(answer_of(*find(others, 1)), 1);
  EXPECT_EQ(compiled_, 1);
}

TEST_F(KernelCacheTest, AFailedCompilationIsTriedAgain) {
  KernelCache kernels({}, directory_.string());
  const auto fail = [&](const auto&) -> std::vector<std::vector<char>> { internal_error("no"); };
  EXPECT_THROW(kernels.find({{key(1), {"answer"}}}, fail), InternalError);
  EXPECT_EQ(answer_of(*find(kernels, 1)), 1);
}

TEST_F(KernelCacheTest, ThreadsShareOneCompilation) {
  KernelCache kernels({}, directory_.string());
  std::vector<std::shared_ptr<const LoadedObject>> held(32);
  std::vector<std::thread> threads;
  for (size_t t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (size_t number = 0; number < 4; ++number) {
        held[4 * t + number] = find(kernels, static_cast<int>(number));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(compiled_, 4);
  for (size_t at = 0; at < held.size(); ++at) EXPECT_EQ(answer_of(*held[at]), int64_t(at % 4));
}

TEST_F(KernelCacheTest, ChildrenOfForksCompileWhileOthersDo) {
  KernelCache kernels({}, directory_.string());
  const auto before = find(kernels, 1);
  std::atomic<bool> stop = false;
  std::vector<std::thread> busy;
  for (int t = 0; t < 2; ++t) {
    busy.emplace_back([&, t] {
      for (int number = 100 * (t + 1); !stop; ++number) {
        EXPECT_EQ(answer_of(*find(kernels, number)), number);
      }
    });
  }
  for (int round = 0; round < 20; ++round) {
    in_child([&] {
      return answer_of(*before) == 1 && answer_of(*find(kernels, 1)) == 1 &&
             answer_of(*find(kernels, 10000 + round)) == 10000 + round &&
             answer_of(*find(kernels, 100)) == 100;
    });
  }
  stop = true;
  for (std::thread& thread : busy) thread.join();
}

}  // namespace
}  // namespace tulle::jit
