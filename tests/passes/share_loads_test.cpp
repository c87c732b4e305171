// Lanes that load the same coordinates share the loads, and results are bitwise identical.
#include "fixture.h"
#include "support/check.h"
#include "support/mutant.h"

namespace tulle::passes {
namespace {

constexpr const char* kPass = "share_loads";

// Groups of four lanes sum over gathered values of a row, four entries at a time; the groups take
// entries in turn.
constexpr const char* kGather = R"(
kernel k(crd: i32*, B: f64*, y: mut f64*; n: i64) {
  block for b in [0, 1) {
    warp for w in [0, 1) {
      lane for lane in [0, 32) {
        let group: i64 = lane / 4
        var s: f64 = 0.0
        var p: i64 = group
        while (p < n - 24) {
          let q: i64 = p + 8
          let j: i64 = i64(crd[p])
          let k: i64 = i64(crd[q])
          let l: i64 = i64(crd[p + 16])
          let m: i64 = i64(crd[q + 16])
          s = s + lane_reduce(add, B[j * 4 + lane % 4], 4)
          s = s + lane_reduce(add, B[k * 4 + lane % 4], 4)
          s = s + lane_reduce(add, B[l * 4 + lane % 4], 4)
          s = s + lane_reduce(add, B[m * 4 + lane % 4], 4)
          p = p + 32
        }
        y[lane] = s
      }
    }
  }
})";

std::string with(const std::string& from, const std::string& to) {
  std::string text = kGather;
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

loop::Array coordinates() {
  std::vector<int32_t> values(96);
  for (size_t n = 0; n < values.size(); ++n) values[n] = static_cast<int32_t>(n * n % 7);
  return loop::to_array(DType::Int32, values);
}

void expect_kept(const std::string& text) {
  for (const int64_t n : {0, 1, 25, 31, 32, 33, 57, 64, 96}) {
    expect_same_results({kPass}, text,
                        {{"crd", coordinates()}, {"B", doubles(28, 2)}, {"y", doubles(32, 3)}},
                        {{"n", n}}, 0, true, Backend::Gpu);
  }
}

TEST(ShareLoads, HandsOnWhatOtherLanesLoaded) {
  const Transformed result = transform(kPass, kGather, true, Backend::Gpu);
  EXPECT_TRUE(result.has("let j_own: i32 = crd[p + lane % 4 * 8]")) << result.after;
  EXPECT_TRUE(result.has("let j: i64 = i64(lane_shuffle(index, j_own, 0, 4))")) << result.after;
  EXPECT_TRUE(result.has("let m: i64 = i64(lane_shuffle(index, j_own, 3, 4))")) << result.after;
  expect_kept(kGather);
}

// Larger groups share four copies each.
TEST(ShareLoads, TakesAsManyLanesAsThereAreCopies) {
  const std::string text = with("lane / 4", "lane / 8");
  EXPECT_TRUE(transform(kPass, text, true, Backend::Gpu).has("crd[p + lane % 4 * 8]"));
  expect_kept(text);
}

TEST(ShareLoads, GoesBeforeLoadingAhead) {
  for (const int64_t n : {0, 25, 64, 96}) {
    expect_same_results({kPass, "load_ahead"}, kGather,
                        {{"crd", coordinates()}, {"B", doubles(28, 2)}, {"y", doubles(32, 3)}},
                        {{"n", n}}, 0, true, Backend::Gpu);
  }
}

TEST(ShareLoads, OfTheNextLaneWouldBeNoticed) {
  const auto sums = [] {
    const loop::Arrays after = loop::interpret(
        transform(kPass, with("s = s + lane", "s = s * 0.5 + lane"), true, Backend::Gpu).program,
        {{"crd", coordinates()}, {"B", doubles(28, 2)}, {"y", doubles(32, 3)}}, {{"n", 64}});
    return loop::to_vector<double>(after.at("y"));
  };
  const std::vector<double> right = sums();
  set_mutant("share-from-the-next");
  const std::vector<double> wrong = sums();
  set_mutant("");
  EXPECT_NE(right, wrong);
}

TEST(ShareLoads, LeavesAloneWhatLanesDoNotShare) {
  std::string alone = kGather;
  for (const char* row : {"j", "k", "l", "m"}) {
    const std::string sum = concat("lane_reduce(add, B[", row, " * 4 + lane % 4], 4)");
    alone.replace(alone.find(sum), sum.size(), concat("B[", row, " * 4]"));
  }
  for (const std::string& other : {
           with("i64(crd[", "i64(crd[lane % 2 + "),  // addresses differ between lanes
           alone,                                    // no lane operation
           with("crd: i32*", "crd: mut i32*"),       // may be written
           with("crd[p + 16]", "crd[p + 15]"),       // not equidistant
           with("p = p + 32", "p = p + n"),          // not a constant step
       }) {
    const Transformed result = transform(kPass, other, true, Backend::Gpu);
    EXPECT_EQ(result.before, result.after) << other;
  }
}

}  // namespace
}  // namespace tulle::passes
