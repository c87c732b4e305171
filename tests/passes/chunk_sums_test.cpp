// Long sums are added up in chunks.
#include "passes/chunk_sums.h"

#include <limits>

#include "fixture.h"
#include "support/check.h"

namespace tulle::passes {
namespace {

constexpr const char* kPass = "chunk_sums";

constexpr const char* kSum = R"(
kernel total(A: f32*, y: mut f32*; n: i64) {
  var sum: f32 = 0.0f
  for p in [0, n) {
    sum = sum + A[p]
  }
  y[0] = sum
})";

// Rows of one length, and a sum over all of them.
constexpr const char* kRows = R"(
kernel rows(A: f32*, y: mut f32*; m: i64, n: i64) {
  var all: f32 = 0.0f
  for i in [0, m) {
    var row: f32 = 0.0f
    for p in [i * n, (i + 1) * n) {
      row = row + A[p]
      all = all + A[p]
    }
    y[i + 1] = row
  }
  y[0] = all
})";

// A sum of numbers relative to a scale that grows.
constexpr const char* kScaled = R"(
kernel scaled(A: f32*, y: mut f32*; n: i64) {
  var sum: f32 = 0.0f
  for p in [0, n) {
    sum = sum * select(p % 1000 == 999, 0.5f, 1.0f) + A[p]
  }
  y[0] = sum
})";

std::vector<float> run(const std::string& text, std::vector<double> values, int64_t results,
                       const loop::Scalars& scalars) {
  const loop::HostProgram program = transform(kPass, text).program;
  const auto found =
      loop::interpret(program,
                      {{"A", loop::to_array<float>(DType::Float32, {values.begin(), values.end()})},
                       {"y", loop::to_array<float>(DType::Float32, std::vector<float>(results))}},
                      scalars);
  return loop::to_vector<float>(found.at("y"));
}

// 2^24 and many numbers that a float32 sum of this size loses.
std::vector<double> lost_numbers(int64_t count) {
  std::vector<double> values(static_cast<size_t>(count), 1);
  values[0] = 16777216;
  return values;
}

TEST(ChunkSums, KeepsTermsThatOneAccumulatorLoses) {
  const int64_t n = 20'000;
  // Only the terms in the chunk of the large number are lost.
  EXPECT_NEAR(run(kSum, lost_numbers(n), 1, {{"n", n}})[0], 16777216 + n, kTermsOfChunk);
}

TEST(ChunkSums, KeepsEveryBitOfAShortSum) {
  for (const int64_t n : {0L, 1L, 100L, kTermsOfChunk})
    expect_same_results({kPass}, kSum, {{"A", floats(n)}, {"y", floats(1)}}, {{"n", n}});
}

TEST(ChunkSums, AddsUpLoopsInLoops) {
  const int64_t m = 700, n = 600;
  const std::vector<float> found = run(kRows, lost_numbers(m * n), m + 1, {{"m", m}, {"n", n}});
  EXPECT_NEAR(found[0], 16777216 + m * n, 2 * kTermsOfChunk);
  EXPECT_NEAR(found[1], 16777216 + n, kTermsOfChunk);
  EXPECT_EQ(found[2], n);
}

TEST(ChunkSums, LeavesShortInnerLoopsWithoutChunks) {
  EXPECT_TRUE(transform(kPass, kRows).has("if ((i + 1) * n - i * n <= 512) {"));
}

TEST(ChunkSums, ScalesTheTotals) {
  const int64_t n = 5'000;
  expect_same_results({kPass}, kScaled, {{"A", floats(n)}, {"y", floats(1)}}, {{"n", n}}, 1e-6);
}

TEST(ChunkSums, GivesInfiniteSumsOfInfiniteTerms) {
  std::vector<double> values(2'000, 1);
  values[10] = std::numeric_limits<double>::infinity();
  EXPECT_EQ(run(kSum, values, 1, {{"n", 2'000}})[0], std::numeric_limits<float>::infinity());
  values[1'500] = -values[10];
  EXPECT_NE(run(kSum, values, 1, {{"n", 2'000}})[0], run(kSum, values, 1, {{"n", 2'000}})[0]);
}

TEST(ChunkSums, LeavesLoopsWithABound) {
  for (const char* bounds : {"[0, 500)", "[m, min(m + 500, n))", "[0, min(m + 500, n) - m)"}) {
    const std::string text =
        concat("kernel k(A: f32*, y: mut f32*; m: i64, n: i64) { var s: f32 = 0.0f\n for p in ",
               bounds, " { s = s + A[p] }\n y[0] = s }");
    const Transformed result = transform(kPass, text);
    EXPECT_EQ(result.before, result.after);
  }
}

TEST(ChunkSums, LeavesVariablesThatTheLoopReads) {
  const std::string text =
      "kernel k(A: f32*, y: mut f32*; n: i64) { var s: f32 = 0.0f\n for p in [0, n) { s = s + A[p] "
      "y[p] = s } }";
  const Transformed result = transform(kPass, text);
  EXPECT_EQ(result.before, result.after);
}

}  // namespace
}  // namespace tulle::passes
