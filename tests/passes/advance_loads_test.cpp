// The loads of copies come first, and results are bitwise identical.
#include "fixture.h"
#include "support/check.h"

namespace tulle::passes {
namespace {

constexpr const char* kPass = "advance_loads";

// Sums over gathered values of a row.
constexpr const char* kGather = R"(
kernel k(crd: i32*, A: f64*, B: f64*, y: mut f64*; n: i64) {
  var s: f64 = 0.0
  unrolled(4) for p in [0, n) {
    let j: i64 = i64(crd[p])
    let b: f64 = B[j]
    let a: f64 = A[p]
    s = s + a * b
  }
  y[0] = s
})";

size_t place(const Transformed& result, const std::string& text) { return result.after.find(text); }

TEST(AdvanceLoads, LoadsBeforeItComputes) {
  const Transformed unrolled = transform("unroll_loops", kGather);
  const std::string kernel = unrolled.after.substr(unrolled.after.find("kernel k("));
  const Transformed result = transform(kPass, kernel);
  // Four coordinates, then four gathers, then four sums.
  EXPECT_LT(place(result, "crd[p + 3]"), place(result, "B[")) << result.after;
  EXPECT_LT(place(result, "A[p + 3]"), place(result, "B[")) << result.after;
  const size_t sum = place(result, "s = s +");
  EXPECT_LT(result.after.rfind("B[", sum), sum) << result.after;
  EXPECT_GT(result.after.find("B[", sum), result.after.find("p_next = ", sum)) << result.after;
}

TEST(AdvanceLoads, KeepsResults) {
  for (int64_t n = 0; n <= 13; ++n) {
    expect_same_results(
        {"unroll_loops", kPass}, kGather,
        {{"crd", loop::to_array<int32_t>(DType::Int32, {3, 1, 4, 1, 5, 8, 2, 6, 5, 3, 5, 8, 0})},
         {"A", doubles(13)},
         {"B", doubles(9, 2)},
         {"y", doubles(1, 3)}},
        {{"n", n}});
  }
}

TEST(AdvanceLoads, LeavesAloneWhatMayDiffer) {
  // Written buffers, changing variables, lets that depend on either, loops and single blocks.
  for (const char* body :
       {"{ let a: f64 = y[0]\n y[1] = a }\n { let b: f64 = y[1]\n y[2] = b }",
        "var s: i64 = 0\n { let a: f64 = A[s]\n y[1] = a\n s = s + 1 }\n { y[2] = A[s] }",
        "{ let a: f64 = y[0]\n let c: f64 = a + 1.0\n y[1] = c }\n { y[2] = 1.0 }",
        "{ for i in [0, n) { let a: f64 = A[i]\n y[i] = a } }\n { y[2] = 1.0 }",
        "{ let a: f64 = A[0]\n y[1] = a }"}) {
    const Transformed result =
        transform(kPass, concat("kernel k(A: f64*, y: mut f64*; n: i64) {\n", body, "\n}"));
    EXPECT_EQ(result.before, result.after);
  }
}

TEST(AdvanceLoads, StaysBehindLoops) {
  const Transformed result = transform(kPass, R"(
kernel k(A: f64*, y: mut f64*; n: i64) {
  for i in [0, n) {
    y[i] = 0.0
  }
  { let a: f64 = A[0]
    y[1] = a }
  { let a: f64 = A[1]
    y[2] = a }
})");
  EXPECT_LT(place(result, "for i in"), place(result, "A[0]")) << result.after;
  EXPECT_LT(place(result, "A[1]"), place(result, "y[1]")) << result.after;
}

}  // namespace
}  // namespace tulle::passes
