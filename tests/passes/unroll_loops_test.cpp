// Unrolled loops have bitwise identical results.
#include "fixture.h"
#include "support/check.h"

namespace tulle::passes {
namespace {

constexpr const char* kPass = "unroll_loops";

// Numbers whose sum depends on the order.
loop::Array thirds(int count) {
  std::vector<double> values(count);
  for (int i = 0; i < count; ++i) values[i] = 1.0 / (i + 3) * (i % 2 ? -1e5 : 1);
  return loop::to_array(DType::Float64, values);
}

TEST(UnrollLoops, KeepsTheOrderOfIterations) {
  for (const int factor : {1, 2, 3, 4, 8}) {
    for (const int step : {1, 3}) {
      for (int64_t end = 0; end <= 20; ++end) {
        const std::string text =
            concat("kernel k(A: f64*, y: mut f64*; begin: i64, end: i64) {\n",
                   "  var s: f64 = 0.0\n  unrolled(", factor, ") for p in [begin, end) by ", step,
                   " {\n    let a: f64 = A[p]\n    s = s + a\n  }\n  y[0] = s\n}");
        expect_same_results({kPass}, text, {{"A", thirds(20)}, {"y", thirds(1)}},
                            {{"begin", 1}, {"end", end}});
        expect_same_results({kPass, "simplify"}, text, {{"A", thirds(20)}, {"y", thirds(1)}},
                            {{"begin", 1}, {"end", end}});
      }
    }
  }
}

TEST(UnrollLoops, MasksTheRestOnAGpu) {
  for (const int factor : {2, 3, 4, 8}) {
    for (const int step : {1, 3}) {
      const std::string text =
          concat("kernel k(A: f64*, y: mut f64*; begin: i64, end: i64) {\n",
                 "  var s: f64 = 0.0\n  t = alloc zeroed local f64[2]\n  unrolled(", factor,
                 ") for p in [begin, end) by ", step,
                 " {\n    var own: f64 = A[p]\n    own = own * 2.0\n    s = s + own\n",
                 "    t[1] = t[1] - own\n  }\n  y[0] = s\n  y[1] = t[1]\n}");
      EXPECT_TRUE(transform(kPass, text, true, Backend::Gpu).has("is_there"));
      for (int64_t end = 0; end <= 20; ++end) {
        expect_same_results({kPass, "simplify"}, text, {{"A", thirds(20)}, {"y", thirds(2)}},
                            {{"begin", 1}, {"end", end}}, 0, true, Backend::Gpu);
      }
    }
  }
}

TEST(UnrollLoops, MasksSumsOverGroupsOfLanes) {
  const std::string text =
      "kernel k(A: f64*, y: mut f64*; n: i64) {\n  block for b in [0, 1) {\n"
      "    warp for w in [0, 1) {\n      lane for lane in [0, 32) {\n"
      "        var s: f64 = 0.0\n        unrolled(4) for p in [lane / 8, n) by 4 {\n"
      "          let sum: f64 = lane_reduce(add, A[p], 8)\n          s = s + sum\n        }\n"
      "        y[lane] = s\n      }\n    }\n  }\n}";
  EXPECT_TRUE(transform(kPass, text, true, Backend::Gpu).has("is_there"));
  for (int64_t n = 0; n <= 40; n += 3) {
    expect_same_results({kPass, "simplify"}, text, {{"A", thirds(40)}, {"y", thirds(32)}},
                        {{"n", n}}, 0, true, Backend::Gpu);
  }
}

TEST(UnrollLoops, MasksNoMoreThanAFewOnAGpu) {
  for (const int factor : {4, 8, 16}) {
    const std::string text =
        concat("kernel k(A: f64*, y: mut f64*; n: i64) {\n  var s: f64 = 0.0\n  unrolled(", factor,
               ") for p in [0, n) {\n    s = s + A[p]\n  }\n  y[0] = s\n}");
    const Transformed result = transform(kPass, text, true, Backend::Gpu);
    EXPECT_TRUE(result.has("let is_there3") && !result.has("let is_there4")) << result.after;
  }
}

TEST(UnrollLoops, DoesNotMaskWhatOthersSee) {
  const std::string text =
      "kernel k(A: f64*, y: mut f64*; n: i64) {\n"
      "  unrolled(4) for p in [0, n) {\n    y[p] = A[p]\n  }\n}";
  EXPECT_FALSE(transform(kPass, text, true, Backend::Gpu).has("is_there"));
}

TEST(UnrollLoops, WritesOutLoopsOverRegistersOnAGpu) {
  const std::string text =
      "kernel k(A: f64*, y: mut f64*) {\n  t = alloc local f64[4]\n"
      "  for i in [0, 4) {\n    t[i] = A[i]\n  }\n  for i in [0, 4) {\n    y[i] = t[i]\n  }\n}";
  EXPECT_TRUE(transform(kPass, text).has("for i"));
  EXPECT_FALSE(transform(kPass, text, true, Backend::Gpu).has("for i"));
  expect_same_results({kPass}, text, {{"A", thirds(4)}, {"y", thirds(4)}}, {}, 0, true,
                      Backend::Gpu);
}

TEST(UnrollLoops, WritesOutVectorsOverRegistersThatHaveNoVectorForm) {
  // The atomics do not start at a multiple of four.
  const std::string text =
      "kernel k(A: f32*, y: mut f32*; n: i64) {\n  t = alloc local f32[4]\n"
      "  vector(4) for i in [0, 4) {\n    t[i] = A[i]\n  }\n"
      "  vector(4) for i in [0, 4) {\n    atomic_add(y[n + i], t[i])\n  }\n}";
  const Transformed result = transform("vectorize_loops", text, true, Backend::Gpu);
  EXPECT_FALSE(result.has("for i")) << result.after;
  EXPECT_TRUE(transform("vectorize_loops", text).has("for i"));
  expect_same_results({"vectorize_loops"}, text, {{"A", floats(4)}, {"y", floats(8)}}, {{"n", 3}},
                      0, true, Backend::Gpu);
}

TEST(UnrollLoops, WritesOutConstantExtents) {
  for (const char* loop : {"unrolled for p in [4, 7)", "unrolled(8) for p in [n, n + 3)"}) {
    const std::string text =
        concat("kernel k(A: f64*, y: mut f64*; n: i64) {\n  ", loop, " {\n    y[p] = A[p]\n  }\n}");
    const Transformed result = transform(kPass, text);
    EXPECT_FALSE(result.has("for ")) << result.after;
    expect_same_results({kPass}, text, {{"A", thirds(9)}, {"y", thirds(9)}}, {{"n", 4}});
  }
}

TEST(UnrollLoops, KnowsThatHalfAPairIsOneIteration) {
  const std::string text = R"(
kernel k(A: f64*, y: mut f64*; n: i64) {
  unrolled(2) for p in [0, n) {
    y[p] = A[p]
  }
})";
  const Transformed result = transform(kPass, text);
  EXPECT_TRUE(result.has("while (p_next < p_end - 1) {")) << result.after;
  EXPECT_TRUE(result.has("if (p_next < p_end) {")) << result.after;
}

TEST(UnrollLoops, TakesWhatIsLeftByHalves) {
  const std::string text = R"(
kernel k(A: f64*, y: mut f64*; n: i64) {
  unrolled(8) for p in [0, n) {
    y[p] = A[p]
  }
})";
  const Transformed result = transform(kPass, text);
  EXPECT_TRUE(result.has("while (p_next < p_end - 7) {")) << result.after;
  EXPECT_TRUE(result.has("if (p_next < p_end - 3) {")) << result.after;
  EXPECT_TRUE(result.has("if (p_next < p_end - 1) {")) << result.after;
  EXPECT_TRUE(result.has("if (p_next < p_end) {")) << result.after;
  EXPECT_FALSE(result.has("for ")) << result.after;
}

TEST(UnrollLoops, UnrollsNestedLoops) {
  const std::string text = R"(
kernel k(A: f64*, y: mut f64*; n: i64) {
  unrolled(2) for p in [0, n) {
    unrolled for q in [0, 3) {
      y[p] = y[p] + A[p * 3 + q]
    }
  }
})";
  expect_same_results({kPass, "simplify"}, text, {{"A", thirds(21)}, {"y", thirds(7)}}, {{"n", 7}});
}

TEST(UnrollLoops, SaysWhatItDoesNotWriteOut) {
  const Transformed many =
      transform(kPass, "kernel k(y: mut f64*) { unrolled for p in [0, 1000) { y[p] = 0.0 } }");
  ASSERT_EQ(many.remarks.size(), 1u);
  EXPECT_EQ(many.remarks[0], "the loop over p stays serial: at most 256 copies are unrolled");
  EXPECT_TRUE(many.has("  for p in [0, 1000)"));
}

TEST(UnrollLoops, LeavesSharedMemoryAsItIsLaidOut) {
  const Transformed result = transform(kPass, R"(
kernel k(A: f32*, y: mut f32*) {
  block for b in [0, 1) {
    unrolled(2) for p in [0, 4) {
      parts = alloc shared f32[32]
      thread for t in [0, 32) {
        parts[t] = A[t]
      }
      barrier(block)
      thread for t in [0, 32) {
        y[t] = parts[31 - t]
      }
      barrier(block)
    }
  }
})",
                                       true, Backend::Gpu);
  EXPECT_TRUE(result.has("for p in [0, 4)"));
}

}  // namespace
}  // namespace tulle::passes
