// Coordinates are loaded one iteration ahead, and results are bitwise identical.
#include "fixture.h"
#include "support/check.h"

namespace tulle::passes {
namespace {

constexpr const char* kPass = "load_ahead";

// Lanes sum over gathered values of a row, two at a time.
constexpr const char* kGather = R"(
kernel k(crd: i32*, B: f64*, y: mut f64*; n: i64) {
  block for b in [0, 1) {
    warp for w in [0, 1) {
      lane for lane in [0, 32) {
        var s: f64 = 0.0
        var p: i64 = 0
        while (p < n - 1) {
          let q: i64 = p + 1
          let j: i64 = i64(crd[p])
          let l: i64 = i64(crd[q])
          let first: f64 = lane_reduce(add, B[j * 4 + lane % 4], 4)
          let second: f64 = lane_reduce(add, B[l * 4 + lane % 4], 4)
          s = s + first * second
          p = p + 2
        }
        y[lane] = s
      }
    }
  }
})";

TEST(LoadAhead, LoadsWhatTheNextIterationNeeds) {
  const Transformed result = transform(kPass, kGather, true, Backend::Gpu);
  EXPECT_TRUE(result.has("let p_ahead: i64 = select(p + 2 < n - 1, p + 2, p)")) << result.after;
  EXPECT_TRUE(result.has("j_ahead = crd[p_ahead]")) << result.after;
  EXPECT_TRUE(result.has("l_ahead = crd[p_ahead + 1]")) << result.after;
  EXPECT_TRUE(result.has("let j: i64 = i64(j_ahead)")) << result.after;
}

TEST(LoadAhead, KeepsResults) {
  for (int64_t n = 0; n <= 9; ++n) {
    expect_same_results(
        {kPass}, kGather,
        {{"crd", loop::to_array<int32_t>(DType::Int32, {3, 1, 4, 1, 5, 2, 2, 6, 5})},
         {"B", doubles(28, 2)},
         {"y", doubles(32, 3)}},
        {{"n", n}}, 0, true, Backend::Gpu);
  }
}

TEST(LoadAhead, LeavesAloneWhatItCannotTell) {
  const std::string text = kGather;
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string other = text;
    other.replace(other.find(from), from.size(), to);
    return other;
  };
  for (const std::string& other : {
           with("crd: i32*", "crd: mut i32*"),                            // may be written
           with("while (p < n - 1)", "while (p < n - 1 && s < 9.0)"),     // not a plain end
           with("p = p + 2", "p = p + n"),                                // not a constant step
           with("let q: i64 = p + 1", "p = p + 0\n let q: i64 = p + 1"),  // assigned twice
       }) {
    const Transformed result = transform(kPass, other, true, Backend::Gpu);
    EXPECT_EQ(result.before, result.after) << other;
  }
}

}  // namespace
}  // namespace tulle::passes
