// Lane sums that are computed together end up in one lane each.
#include "fixture.h"
#include "support/check.h"

namespace tulle::passes {
namespace {

constexpr const char* kPass = "scatter_sums";

// A warp sums groups of lanes, `trips` times, and the first lane of a group stores the sum.
std::string sums(int width, int trips, const std::string& last = "y[g * 64 + e] = s") {
  return concat(
      "kernel k(A: f32*, y: mut f32*) {\n  block for b in [0, 1) {\n",
      "    warp for w in [0, 1) {\n    lane for lane in [0, 32) {\n      let g: i64 = lane / ",
      width, "\n      var all: f32 = 0.0f\n      unrolled(", trips, ") for e in [0, ", trips,
      ") {\n        let at: i64 = e * 32 + lane\n        var acc: f32 = 0.5f\n",
      "        let s: f32 = lane_reduce(add, A[at], ", width,
      ")\n        acc = acc + s\n        if (lane % ", width, " == 0) {\n          ", last,
      "\n        }\n      }\n    }\n    }\n  }\n}");
}

TEST(ScatterSums, KeepsResults) {
  for (const int width : {2, 4, 8, 16, 32}) {
    for (const int groups : {1, 2}) {
      if (width * groups > 32) continue;
      const std::string text = sums(width, width * groups, "y[g * 64 + e] = acc");
      EXPECT_TRUE(transform(kPass, text).has("lane_shuffle(xor")) << text;
      EXPECT_FALSE(transform(kPass, text).has("lane_reduce")) << text;
      expect_same_results({kPass}, text, {{"A", floats(32 * 32)}, {"y", floats(1024)}}, {}, 1e-6);
      expect_same_results({kPass, "unroll_loops", "simplify"}, text,
                          {{"A", floats(32 * 32)}, {"y", floats(1024)}}, {}, 1e-6, true,
                          Backend::Gpu);
    }
  }
}

// Lanes with the sums of different iterations would write the same element concurrently.
TEST(ScatterSums, LeavesWhatIterationsAddUp) {
  const auto scatters = [](const std::string& last) {
    return transform(kPass, sums(8, 8, last)).has("lane_shuffle(xor");
  };
  EXPECT_FALSE(scatters("y[g] = y[g] + s"));
  EXPECT_FALSE(scatters("y[g] = s"));
  EXPECT_FALSE(scatters("let place: i64 = g * 2\n y[place] = s"));
  EXPECT_FALSE(scatters("y[g * 64 + e] = s\n all = all + s"));
  EXPECT_TRUE(scatters("y[g * 64 + e] = y[g * 64 + e] + s"));
  EXPECT_TRUE(scatters("let place: i64 = g * 64 + e\n y[place] = s"));
  EXPECT_TRUE(scatters("atomic_add(y[g], s)"));
  expect_same_results({kPass, "unroll_loops", "simplify"}, sums(8, 8, "y[g] = y[g] + s"),
                      {{"A", floats(32 * 32)}, {"y", floats(64)}}, {}, 1e-6, true, Backend::Gpu);
}

// Fewer sums than lanes, down to two.
TEST(ScatterSums, LeavesLanesOverWhereSumsAreFewer) {
  for (const auto& [width, trips] : {std::pair(8, 4), {8, 12}, {32, 8}, {16, 2}, {32, 6}}) {
    const std::string text = sums(width, trips, "y[g * 64 + e] = acc");
    EXPECT_TRUE(transform(kPass, text).has("lane_shuffle(xor")) << text;
    expect_same_results({kPass, "unroll_loops", "simplify"}, text,
                        {{"A", floats(32 * 32)}, {"y", floats(2048)}}, {}, 1e-6, true,
                        Backend::Gpu);
  }
  EXPECT_FALSE(transform(kPass, sums(8, 3)).has("lane_shuffle"));
}

// The number of iterations is known only at run time and is uniform in a group of lanes.
TEST(ScatterSums, CountsIterations) {
  for (const int width : {2, 8, 32}) {
    for (const int copies : {2, 8}) {
      const std::string text = concat(
          "kernel k(A: f32*, y: mut f32*; n: i64) {\n  block for b in [0, 1) {\n",
          "    warp for w in [0, 1) {\n    lane for lane in [0, 32) {\n      let g: i64 = lane / ",
          width, "\n      unrolled(", copies, ") for e in [g, n + 2 * g) by 3 {\n",
          "        let at: i64 = e * 32 + lane\n        let s: f32 = lane_reduce(add, A[at], ",
          width, ")\n        if (lane % ", width, " == 0) {\n          y[g * 64 + e] = s\n",
          "        }\n      }\n    }\n    }\n  }\n}");
      EXPECT_TRUE(transform(kPass, text).has("lane_shuffle(xor")) << text;
      for (const int64_t n : {0, 1, 3, 7, 24, 25, 31}) {
        expect_same_results({kPass, "unroll_loops", "simplify"}, text,
                            {{"A", floats(64 * 32)}, {"y", floats(2048)}}, {{"n", n}}, 1e-6, true,
                            Backend::Gpu);
      }
    }
  }
}

TEST(ScatterSums, LeavesWhatAllLanesSeeAlone) {
  std::string text = sums(4, 4);
  text.replace(text.find("if (lane % 4 == 0)"), 18, "if (lane % 2 == 0)");
  EXPECT_TRUE(transform(kPass, text).has("lane_reduce"));
}

}  // namespace
}  // namespace tulle::passes
