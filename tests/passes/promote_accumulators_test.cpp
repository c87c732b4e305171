// Elements that a loop updates become variables.
#include "fixture.h"
#include "support/check.h"

namespace tulle::passes {
namespace {

constexpr const char* kPass = "promote_accumulators";

constexpr const char* kSpmv = R"(
kernel spmv(pos: i64*, crd: i64*, A: f32*, x: f32*, y: mut f32*; m: i64) {
  parallel for i in [0, m) {
    for p in [pos[i], pos[i + 1]) {
      y[i] = y[i] + A[p] * x[crd[p]]
    }
  }
})";

TEST(PromoteAccumulators, KeepsSumsInVariables) {
  const Transformed result = transform(kPass, kSpmv);
  EXPECT_TRUE(result.has("if (pos[i] < pos[i + 1]) {\n      var y_value: f32 = y[i]"))
      << result.after;
  EXPECT_TRUE(result.has("y_value = y_value + A[p] * x[crd[p]]")) << result.after;
  EXPECT_TRUE(result.has("y[i] = y_value")) << result.after;
  expect_same_results({kPass}, kSpmv,
                      {{"pos", loop::to_array<int64_t>(DType::Int64, {0, 2, 2, 5})},
                       {"crd", indices(5, 4)},
                       {"A", floats(5)},
                       {"x", floats(4, 2)},
                       {"y", floats(3, 3)}},
                      {{"m", 3}});
}

TEST(PromoteAccumulators, MakesReductionsOfVectorLoops) {
  const std::string text =
      "kernel k(A: f32*, y: mut f32*; n: i64) { vector(4) for k in [0, n) { y[3] = y[3] + A[k] } }";
  EXPECT_EQ(transform("vectorize_loops", text).remarks.size(), 1u);
  const loop::Arrays buffers{{"A", floats(11)}, {"y", floats(4, 2)}};
  expect_same_results({kPass, "vectorize_loops"}, text, buffers, {{"n", 11}});
  expect_same_results({kPass, "vectorize_loops"}, text, buffers, {{"n", 0}});
}

TEST(PromoteAccumulators, NeverTouchesAnElementThatTheLoopDoesNot) {
  // y has no element n, so it may be loaded only if the loop has iterations.
  const std::string text =
      "kernel k(A: f32*, y: mut f32*; n: i64) { for k in [0, n) { y[n] = y[n] + A[k] } }";
  expect_same_results({kPass}, text, {{"A", floats(3)}, {"y", floats(0)}}, {{"n", 0}});
}

class PromoteRefusal : public testing::TestWithParam<const char*> {};

TEST_P(PromoteRefusal, LeavesTheLoop) {
  const std::string text = concat(
      "kernel k(A: f32*, P: i64*, L: mut i64*, y: mut f32*; n: i64) {\n var q: i64 = 0\n for p in "
      "[0, n) {\n",
      GetParam(), "\n }\n L[0] = q\n}");
  const Transformed result = transform(kPass, text);
  EXPECT_EQ(result.before, result.after);
}

INSTANTIATE_TEST_SUITE_P(
    Bodies, PromoteRefusal,
    testing::Values("y[p] = y[p] + A[p]",                           // the index varies
                    "y[P[p]] = y[P[p]] + A[p]",                     // the same
                    "y[q] = y[q] + A[p]\n q = q + 1",               // the same
                    "y[0] = y[0] + y[1]",                           // two elements
                    "if (p == 3) {\n y[n] = y[n] + A[p]\n }",       // not in every iteration
                    "y[L[1]] = y[L[1]] + A[p]\n L[p] = p",          // the index may change
                    "y[0] = y[0] + A[p]\n atomic_add(y[0], A[p])",  // other threads may read
                    "y[0] = A[p]"));                                // not an accumulation

}  // namespace
}  // namespace tulle::passes
