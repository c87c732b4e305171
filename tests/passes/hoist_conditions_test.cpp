// Loop-invariant conditions move out of loops.
#include "fixture.h"
#include "support/check.h"

namespace tulle::passes {
namespace {

constexpr const char* kPass = "hoist_conditions";

constexpr const char* kBlock = R"(
kernel k(A: f32*, B: f32*, y: mut f32*; n: i64, m: i64, own: i64) {
  for j in [0, n) {
    let row: i64 = j * 4
    if (own % 4 < min(4, m)) {
      let k: i64 = own % 4
      let at: i64 = row + k
      y[k] = y[k] + A[j] * B[at]
    }
  }
})";

loop::Arrays block_arrays() {
  return {{"A", floats(3)}, {"B", floats(12, 2)}, {"y", floats(4, 3)}};
}

TEST(HoistConditions, ComeWithTheNamesThatStayTheSame) {
  const Transformed result = transform(kPass, kBlock);
  EXPECT_TRUE(result.has("  if (own % 4 < min(4, m)) {\n    let k: i64 = own % 4\n    for j in"))
      << result.after;
  EXPECT_TRUE(result.has("let row: i64 = j * 4\n      let at: i64 = row + k\n")) << result.after;
}

TEST(HoistConditions, ChangeNoResult) {
  for (const int64_t n : {0, 1, 3}) {
    for (const int64_t own : {0, 2, 3, 7})
      expect_same_results({kPass}, kBlock, block_arrays(), {{"n", n}, {"m", 3}, {"own", own}});
  }
}

TEST(HoistConditions, MakeAccumulatorsOfWhatStandsUnderThem) {
  const std::string promoted = transform("promote_accumulators", kBlock).after;
  EXPECT_EQ(promoted.find("y_value"), std::string::npos) << promoted;
  const std::string hoisted = transform(kPass, kBlock).after;
  const Transformed both = transform("promote_accumulators", hoisted);
  EXPECT_TRUE(both.has("var y_value: f32 = y[k]")) << both.after;
  expect_same_results({kPass, "promote_accumulators"}, kBlock, block_arrays(),
                      {{"n", 3}, {"m", 4}, {"own", 5}});
}

TEST(HoistConditions, LeaveLoopsInsideAndOutside) {
  const std::string text = R"(
kernel k(A: f32*, y: mut f32*; n: i64, m: i64) {
  for i in [0, n) {
    for j in [0, n) {
      if (i < m) {
        y[i] = y[i] + A[j]
      }
    }
  }
})";
  const Transformed result = transform(kPass, text);
  EXPECT_TRUE(result.has("for i in [0, n) {\n    if (i < m) {\n      for j in [0, n) {"))
      << result.after;
  expect_same_results({kPass}, text, {{"A", floats(4)}, {"y", floats(4, 2)}}, {{"n", 4}, {"m", 2}});
}

TEST(HoistConditions, LeaveNamesOfWhatChanges) {
  const std::string text = R"(
kernel k(y: mut f32*; n: i64, m: i64) {
  var next: i64 = 0
  for p in [0, n) {
    if (m < 4) {
      let at: i64 = next
      y[at] = y[at] + 1.0f
      next = next + 1
    }
  }
})";
  const Transformed result = transform(kPass, text);
  EXPECT_TRUE(result.has("if (m < 4) {\n    for p in [0, n) {\n      let at")) << result.after;
  expect_same_results({kPass}, text, {{"y", floats(4, 2)}}, {{"n", 4}, {"m", 2}});
}

TEST(HoistConditions, LeaveBoundsThatAllLanesComeTo) {
  const std::string text = R"(
kernel k(A: f32*, y: mut f32*) {
  block for b in [0, 1) {
    warp for w in [0, 1) {
      lane for l in [0, 32) {
        for p in [0, lane_reduce(max, l, 32)) {
          if (l == 0) {
            y[p] = A[p]
          }
        }
      }
    }
  }
})";
  const Transformed result = transform(kPass, text);
  EXPECT_EQ(result.before, result.after);
}

TEST(HoistConditions, LeaveWhatAllLanesComeTo) {
  const std::string text = R"(
kernel k(A: f32*, y: mut f32*; n: i64) {
  block for b in [0, 1) {
    warp for w in [0, 1) {
      lane for l in [0, 32) {
        for p in [0, n) {
          let sum: f32 = lane_reduce(add, A[p * 32 + l], 32)
          if (l == 0) {
            y[p] = sum
          }
        }
      }
    }
  }
})";
  const Transformed result = transform(kPass, text);
  EXPECT_EQ(result.before, result.after);
}

class HoistRefusal : public testing::TestWithParam<const char*> {};

TEST_P(HoistRefusal, LeavesTheLoop) {
  const std::string text =
      concat("kernel k(A: f32*, P: i64*, y: mut f32*; n: i64) {\n var q: i64 = 0\n",
             "for p in [0, n) {\n", GetParam(), "\n }\n y[0] = f32(q)\n}");
  const Transformed result = transform(kPass, text);
  EXPECT_EQ(result.before, result.after);
}

INSTANTIATE_TEST_SUITE_P(
    Loops, HoistRefusal,
    testing::Values(
        "if (p < 3) { y[p] = 1.0f }",                       // depends on the loop
        "if (q < 3) { q = q + 1 }",                         // changes in the loop
        "let a: i64 = p * 2 if (a < 3) { y[p] = 1.0f }",    // depends on the loop through a let
        "if (P[0] < 3) { y[p] = 1.0f }",                    // reads memory
        "if (n < 3) { y[p] = 1.0f } else { y[p] = 2.0f }",  // has an else branch
        "y[p] = 0.0f if (n < 3) { y[p] = 1.0f }"));         // other statements precede it

}  // namespace
}  // namespace tulle::passes
