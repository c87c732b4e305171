// Sorted permutations and prefix sums, compared with the standard library.
#include "runtime/sort.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <random>

#include <gtest/gtest.h>

#include "runtime/scan.h"
#include "runtime/sort_integers.h"
#include "runtime/thread_pool.h"
#include "tulle/error.h"

namespace tulle::runtime {
namespace {

class Sorting : public testing::TestWithParam<int> {};

// Keys with the given largest magnitudes; negative ones, too.
void expect_sorted(int64_t length, const std::vector<int64_t>& magnitudes,
                   Parallelism& parallelism) {
  std::mt19937_64 random(static_cast<uint64_t>(length));
  std::vector<std::vector<int64_t>> wide;
  std::vector<std::vector<int32_t>> narrow;
  std::vector<SortKey> keys;
  for (const int64_t magnitude : magnitudes) {
    std::vector<int64_t> key(static_cast<size_t>(length));
    for (int64_t& x : key) {
      x = std::uniform_int_distribution<int64_t>(-magnitude, magnitude)(random);
    }
    wide.push_back(key);
    narrow.emplace_back(key.begin(), key.end());
  }
  for (size_t k = 0; k < magnitudes.size(); ++k) {
    const bool fits = magnitudes[k] <= std::numeric_limits<int32_t>::max();
    keys.push_back(fits ? SortKey{narrow[k].data(), DType::Int32}
                        : SortKey{wide[k].data(), DType::Int64});
  }
  std::vector<int64_t> expected(static_cast<size_t>(length)), order(static_cast<size_t>(length));
  std::iota(expected.begin(), expected.end(), 0);
  std::stable_sort(expected.begin(), expected.end(), [&](int64_t a, int64_t b) {
    for (const auto& key : wide) {
      if (key[a] != key[b]) return key[a] < key[b];
    }
    return false;
  });
  sort_permutation(order.data(), keys, length, parallelism);
  EXPECT_EQ(order, expected) << length << " elements";
}

TEST_P(Sorting, AgreesWithStableSort) {
  ThreadPool pool(GetParam());
  const int64_t large = std::numeric_limits<int64_t>::max();
  for (const int64_t length : {0, 1, 2, 3, 100, 40000}) {
    expect_sorted(length, {0}, pool);
    expect_sorted(length, {3}, pool);
    expect_sorted(length, {1000, 1000}, pool);
    expect_sorted(length, {2, 1 << 30, 5}, pool);
    expect_sorted(length, {large}, pool);
    expect_sorted(length, {4, int64_t{1} << 40, int64_t{1} << 40}, pool);
    expect_sorted(length, {1, large, 1}, pool);
  }
}

TEST_P(Sorting, ScanAgreesWithPartialSums) {
  ThreadPool pool(GetParam());
  for (const int64_t length : {0, 1, 5, 70000, 200001}) {
    std::vector<int32_t> counts(static_cast<size_t>(length) + 1, 7);
    std::vector<int64_t> wide(counts.begin(), counts.end());
    exclusive_scan(counts.data(), DType::Int32, length, "pos", pool);
    exclusive_scan(wide.data(), DType::Int64, length, "pos", pool);
    for (int64_t i = 0; i <= length; ++i) {
      ASSERT_EQ(counts[i], 7 * i);
      ASSERT_EQ(wide[i], 7 * i);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Threads, Sorting, testing::Values(1, 2, 5));

TEST(Scan, RefusesTotalsThatDoNotFit) {
  std::vector<int32_t> counts{std::numeric_limits<int32_t>::max(), 1, 0};
  NoParallelism here;
  EXPECT_THROW(exclusive_scan(counts.data(), DType::Int32, 2, "C_pos", here), UserError);
}

template <typename T>
void expect_integers_sorted(int length, T low, T high) {
  std::mt19937_64 random(3);
  std::uniform_int_distribution<T> any(low, high);
  std::vector<T> values(static_cast<size_t>(length));
  for (T& x : values) x = any(random);
  std::vector<T> expected = values;
  std::sort(expected.begin(), expected.end());
  sort_integers(values.data(), values.data() + length);
  EXPECT_EQ(values, expected) << length << " from " << low << " to " << high;
}

TEST(SortIntegers, AnyLengthAndRange) {
  for (const int length : {0, 1, 2, 47, 48, 49, 1000, 70000}) {
    expect_integers_sorted<int32_t>(length, 0, 0);
    expect_integers_sorted<int32_t>(length, 0, 255);
    expect_integers_sorted<int32_t>(length, -100, 100000);
    expect_integers_sorted<int32_t>(length, std::numeric_limits<int32_t>::min(),
                                    std::numeric_limits<int32_t>::max());
    expect_integers_sorted<int64_t>(length, -70000, 70000);
    expect_integers_sorted<int64_t>(length, 0, int64_t{1} << 39);
    expect_integers_sorted<int64_t>(length, std::numeric_limits<int64_t>::min(),
                                    std::numeric_limits<int64_t>::max());
  }
}

TEST_P(Sorting, LongOnesAgreeToo) {
  ThreadPool pool(GetParam());
  expect_sorted(300000, {100000, 100000}, pool);
}

}  // namespace
}  // namespace tulle::runtime
