// An element that successive iterations load is loaded once.
#include "fixture.h"
#include "support/check.h"

namespace tulle::passes {
namespace {

constexpr const char* kPass = "carry_loads";

constexpr const char* kRows = R"(
kernel k(pos: i32*, A: f64*, y: mut f64*; begin: i64, end: i64) {
  for i in [begin, end) {
    let p: i64 = i64(pos[i])
    let p_end: i64 = i64(pos[i + 1])
    for q in [p, p_end) {
      y[i] = y[i] + A[q]
    }
  }
})";

TEST(CarryLoads, TakesTheEndOfARowForTheBeginOfTheNext) {
  const Transformed result = transform(kPass, kRows);
  EXPECT_TRUE(result.has("if (begin < end) {")) << result.after;
  EXPECT_TRUE(result.has("var pos_here: i32 = pos[begin]")) << result.after;
  EXPECT_TRUE(result.has("let pos_next: i32 = pos[i + 1]")) << result.after;
  EXPECT_TRUE(result.has("let p: i64 = i64(pos_here)")) << result.after;
  EXPECT_TRUE(result.has("let p_end: i64 = i64(pos_next)")) << result.after;
  EXPECT_TRUE(result.has("pos_here = pos_next")) << result.after;
}

TEST(CarryLoads, KeepsResultsAlsoOfEmptyLoops) {
  for (int64_t begin = 0; begin <= 4; ++begin) {
    for (int64_t end = 0; end <= 4; ++end) {
      expect_same_results({kPass}, kRows,
                          {{"pos", loop::to_array<int32_t>(DType::Int32, {0, 2, 2, 5, 6})},
                           {"A", doubles(6)},
                           {"y", doubles(4, 2)}},
                          {{"begin", begin}, {"end", end}});
    }
  }
}

TEST(CarryLoads, LeavesAloneWhatMayDiffer) {
  // A written buffer, a conditional load, steps that do not match, an index with another stride.
  for (const char* body :
       {"let a: f64 = y[i]\nlet b: f64 = y[i + 1]\ny[i + 1] = a + b",
        "let a: f64 = A[i]\nif (i < 3) {\nlet b: f64 = A[i + 1]\ny[i] = a + b\n}",
        "let a: f64 = A[i]\nlet b: f64 = A[i + 2]\ny[i] = a + b",
        "let a: f64 = A[2 * i]\nlet b: f64 = A[2 * i + 1]\ny[i] = a + b",
        "let o: i64 = i * i\nlet a: f64 = A[i + o]\nlet b: f64 = A[i + o + 1]\ny[i] = a + b"}) {
    const Transformed result = transform(
        kPass,
        concat("kernel k(A: f64*, y: mut f64*; n: i64) {\nfor i in [0, n) {\n", body, "\n}\n}"));
    EXPECT_EQ(result.before, result.after);
  }
}

TEST(CarryLoads, FollowsTheStepOfTheLoop) {
  const std::string text = R"(
kernel k(A: f64*, y: mut f64*; n: i64, r: i64) {
  for i in [1, n) by 2 {
    let a: f64 = A[r + i]
    let b: f64 = A[i + r + 2]
    y[i] = a - b
  }
})";
  EXPECT_TRUE(transform(kPass, text).has("A_here = A_next"));
  expect_same_results({kPass}, text, {{"A", doubles(20)}, {"y", doubles(9, 2)}},
                      {{"n", 9}, {"r", 3}});
}

}  // namespace
}  // namespace tulle::passes
