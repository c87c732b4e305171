// Code in memory, on disk or compiled: once for all threads.
#include "jit/kernel_cache.h"

#include <algorithm>
#include <atomic>
#include <thread>

#include "jit/build_identity.h"
#include "jit/cache_fixture.h"

namespace tulle::jit {
namespace {

class KernelCacheTest : public CacheTest {
 protected:
  // Code that returns `number`; counts how often it is compiled.
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

TEST_F(KernelCacheTest, SaysWhatIsOnDisk) {
  KernelCache kernels({}, directory_.string());
  EXPECT_FALSE(kernels.is_on_disk(key(1)));
  find(kernels, 1);
  EXPECT_TRUE(kernels.is_on_disk(key(1)));
  EXPECT_FALSE(kernels.is_on_disk(key(2)));
  KernelCache nowhere({}, "");
  find(nowhere, 1);
  EXPECT_FALSE(nowhere.is_on_disk(key(1)));
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

// Programs that share some of their kernels, looked up by each thread in another order.
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
