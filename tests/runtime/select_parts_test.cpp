// Selecting the entries of parts.
#include "runtime/select_parts.h"

#include <chrono>
#include <random>

#include <gtest/gtest.h>

#include "runtime/expected_parts.h"
#include "runtime/thread_pool.h"
#include "support/check.h"
#include "tulle/error.h"

namespace tulle::runtime {
namespace {

using Coordinates = std::vector<std::vector<int64_t>>;  // by dimension

// For each part the numbers of its entries.
std::vector<std::vector<int64_t>> parts_of(const std::string& format, std::vector<int64_t> sizes,
                                           const Coordinates& coordinates,
                                           Parallelism& parallelism) {
  const CompositeFormat composite = CompositeFormat::parse(format, static_cast<int>(sizes.size()));
  SortedEntries entries{std::move(sizes), {}, DType::Int64, 0};
  for (const auto& of_dimension : coordinates) {
    entries.count = static_cast<int64_t>(of_dimension.size());
    entries.coordinates.push_back({of_dimension.data(), entries.count, nullptr});
  }
  std::vector<int64_t> order(static_cast<size_t>(entries.count)), counts(composite.parts().size());
  select_parts(composite, entries, parallelism, order.data(), counts.data());
  std::vector<std::vector<int64_t>> parts;
  auto next = order.begin();
  for (const int64_t count : counts) {
    parts.emplace_back(next, next + count);
    next += count;
  }
  return parts;
}

std::vector<std::vector<int64_t>> parts_of(const std::string& format, std::vector<int64_t> sizes,
                                           const Coordinates& coordinates) {
  NoParallelism serial;
  return parts_of(format, std::move(sizes), coordinates, serial);
}

using Parts = std::vector<std::vector<int64_t>>;

TEST(SelectParts, ByLengthOfRows) {
  const Coordinates entries = {{0, 0, 0, 1, 3, 3}, {0, 2, 4, 1, 0, 4}};
  EXPECT_EQ(parts_of("{ rows(nnz<=1): csr; rows(nnz>=3): csr; rest: csr }", {4, 5}, entries),
            (Parts{{3}, {0, 1, 2}, {4, 5}}));
  // Within the column ranges [0, 3) and [3, 5).
  EXPECT_EQ(parts_of("columns(2){ rows(nnz<=1): csr; rest: csr }", {4, 5}, entries),
            (Parts{{3, 4}, {0, 1}, {2, 5}, {}}));
}

TEST(SelectParts, ByBandAndColumns) {
  const Coordinates entries = {{0, 0, 1, 1, 2}, {0, 2, 0, 2, 2}};
  EXPECT_EQ(parts_of("{ band(0,1): dia; columns(0,1): csr; rest: csr }", {3, 3}, entries),
            (Parts{{0, 3, 4}, {2}, {1}}));
}

TEST(SelectParts, ByBlocks) {
  const Coordinates entries = {{0, 0, 0, 1, 1, 2}, {0, 1, 3, 0, 2, 3}};
  // 2 x 2: three of four, two of four, one of four.
  EXPECT_EQ(parts_of("{ blocks(2,2, fill>=0.75): bsr(2,2); rest: csr }", {3, 4}, entries),
            (Parts{{0, 1, 3}, {2, 4, 5}}));
  EXPECT_EQ(parts_of("{ blocks(2,2, fill>=0.5): bsr(2,2); rest: csr }", {3, 4}, entries),
            (Parts{{0, 1, 2, 3, 4}, {5}}));
}

TEST(SelectParts, ByReuseOfColumns) {
  const Coordinates entries = {{0, 1, 1, 2, 3}, {1, 1, 2, 0, 3}};
  EXPECT_EQ(parts_of("{ windows(2, reuse>=1.5): csr; rest: csr }", {4, 4}, entries),
            (Parts{{0, 1, 2}, {3, 4}}));
}

TEST(SelectParts, OfEveryMatrixOfABatch) {
  const Coordinates entries = {{0, 0, 1, 1}, {0, 1, 0, 0}, {0, 0, 0, 1}};
  EXPECT_EQ(parts_of("{ rows(nnz<=1): csr; rest: csr }", {2, 2, 2}, entries),
            (Parts{{0, 1}, {2, 3}}));
  EXPECT_EQ(parts_of("{ blocks(2,1, fill>=1): csr; rest: csr }", {2, 2, 2}, entries),
            (Parts{{0, 1}, {2, 3}}));
}

// Selectors in column ranges and without, one after the other, of matrices and batches of them.
TEST(SelectParts, AgreesWithCounting) {
  std::mt19937 random(11);
  const auto below = [&](int64_t count) {
    return static_cast<int64_t>(random() % static_cast<uint32_t>(count));
  };
  for (int run = 0; run < 400; ++run) {
    std::string format;
    for (int64_t item = 0, items = 1 + below(3); item < items; ++item) {
      const std::string selectors[] = {
          concat("rows(nnz<=", 1 + below(4), "): csr; "),
          concat("rows(nnz>=", 1 + below(4), "): csr; "),
          concat("columns(", below(4), ",", 4 + below(4), "): csr; "),
          concat("band(", below(3) - 2, ",", below(4), "): csr; "),
          concat("blocks(", 1 + below(3), ",", 1 + below(4), ", fill>=0.5): csr; "),
          concat("windows(", 1 + below(4), ", reuse>=1.3): csr; ")};
      const std::string one = selectors[below(6)];
      format += below(3) > 0
                    ? one
                    : concat("columns(", 2 + below(4), "){ ", one, selectors[below(6)], "}; ");
    }
    std::vector<int64_t> sizes = {1 + below(9), 1 + below(12)};
    if (below(4) == 0) sizes.insert(sizes.begin(), 1 + below(3));
    Coordinates entries(sizes.size());
    const int64_t matrices = sizes.size() == 3 ? sizes[0] : 1;
    for (int64_t place = 0; place < matrices * sizes.end()[-2] * sizes.back(); ++place) {
      if (below(5) >= 2) continue;
      if (sizes.size() == 3) entries[0].push_back(place / sizes.back() / sizes[1]);
      entries.end()[-2].push_back(place / sizes.back() % sizes.end()[-2]);
      entries.back().push_back(place % sizes.back());
    }
    format = concat("{ ", format, "rest: csr }");
    const Parts parts = parts_of(format, sizes, entries);
    const CompositeFormat composite =
        CompositeFormat::parse(format, static_cast<int>(sizes.size()));
    const ExpectedParts expected(composite, sizes, entries);
    for (size_t p = 0; p < parts.size(); ++p) {
      for (const int64_t at : parts[p])
        ASSERT_EQ(expected[static_cast<size_t>(at)], static_cast<int>(p)) << format;
    }
  }
}

// However many ranges there are, an entry is looked at by the parts of its own alone.
TEST(SelectParts, TakesNoLongerForMoreRanges) {
  Coordinates entries(2);
  for (int64_t row = 0; row < 4000; ++row) {
    for (int64_t e = 0; e < 50; ++e) {
      entries[0].push_back(row);
      entries[1].push_back(e * 80 + row % 80);
    }
  }
  const auto seconds = [&](const char* format) {
    double best = 1e9;
    for (int run = 0; run < 3; ++run) {
      const auto start = std::chrono::steady_clock::now();
      parts_of(format, {4000, 4000}, entries);
      const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
      best = std::min(best, passed.count());
    }
    return best;
  };
  EXPECT_LT(seconds("hyb(256,1)"), 8 * seconds("hyb(1,1)"));
}

TEST(SelectParts, OfNothing) { EXPECT_EQ(parts_of("hyb(1,0)", {3, 3}, {{}, {}}), (Parts{{}, {}})); }

TEST(SelectParts, GivesEveryEntryOutOnceInParallel) {
  std::mt19937 random(7);
  Coordinates entries(2);
  for (int64_t row = 0; row < 3000; ++row) {
    for (int64_t column = 0; column < 100; ++column) {
      if (random() % 100 >= static_cast<uint32_t>(row % 50)) continue;
      entries[0].push_back(row);
      entries[1].push_back(column);
    }
  }
  ThreadPool pool(4);
  for (const std::string format :
       {"hyb(3,4)", "bsr-csr(7,5)", "dia-csr(-9,40)",
        "{ windows(16, reuse>=2): csr; blocks(3,4, fill>=0.5): csr; rest: csr }"}) {
    const Parts parts = parts_of(format, {3000, 100}, entries, pool);
    EXPECT_EQ(parts, parts_of(format, {3000, 100}, entries));
    std::vector<int> taken(entries[0].size(), 0);
    for (const auto& part : parts) {
      EXPECT_TRUE(std::is_sorted(part.begin(), part.end()));
      for (const int64_t at : part) ++taken[static_cast<size_t>(at)];
    }
    EXPECT_TRUE(std::all_of(taken.begin(), taken.end(), [](int times) { return times == 1; }));
  }
}

}  // namespace
}  // namespace tulle::runtime
