// Vector loops: their vector form, unchanged results, and refusals.
#include "fixture.h"
#include "support/check.h"

namespace tulle::passes {
namespace {

using loop::Arrays;

constexpr const char* kPass = "vectorize_loops";

// Interprets before and after, with and without masks.
void expect_same(const std::string& text, const Arrays& buffers, const loop::Scalars& scalars) {
  expect_same_results({kPass}, text, buffers, scalars, 0, true);
  expect_same_results({kPass}, text, buffers, scalars, 0, false);
  expect_same_results({"contract_fma", kPass, "simplify"}, text, buffers, scalars);
}

TEST(VectorizeLoops, UnrollsAConstantExtent) {
  const std::string text = R"(
kernel scale(A: f32*, C: mut f32*; i: i64) {
  vector(4) for k in [0, 8) {
    C[i * 8 + k] = A[k] * 2.0f
  }
})";
  const Transformed result = transform(kPass, text);
  EXPECT_TRUE(result.has("C[ramp(i * 8, 1, 4)] = A[ramp(0, 1, 4)] * broadcast(2.0f, 4)"))
      << result.after;
  EXPECT_TRUE(result.has("C[ramp(i * 8 + 4, 1, 4)] = A[ramp(4, 1, 4)] * broadcast(2.0f, 4)"))
      << result.after;
  EXPECT_FALSE(result.has("for ")) << result.after;
  expect_same(text, {{"A", floats(8)}, {"C", floats(24)}}, {{"i", 2}});
}

TEST(VectorizeLoops, KeepsALoopWhereCopiesWouldBeMany) {
  const std::string text = R"(
kernel copy(A: f32*, C: mut f32*) {
  vector(4) for k in [0, 400) {
    C[k] = A[k]
  }
})";
  EXPECT_TRUE(transform(kPass, text).has("for k in [0, 400) by 4"));
  expect_same(text, {{"A", floats(400)}, {"C", floats(400, 2)}}, {});
}

// Every extent around one and two vectors, constant and not.
TEST(VectorizeLoops, RunsEveryIterationOnce) {
  for (int extent = 0; extent <= 19; ++extent) {
    const std::string body = "{\n C[k] = C[k] + A[k]\n s = s + A[k]\n }\n C[20] = s\n}";
    const Arrays buffers{{"A", floats(20)}, {"C", floats(21, 2)}};
    expect_same(concat("kernel k(A: f32*, C: mut f32*; n: i64) {\n var s: f32 = 1.0f\n vector(8) "
                       "for k in [0, ",
                       extent, ") ", body),
                buffers, {{"n", extent}});
    expect_same(
        "kernel k(A: f32*, C: mut f32*; n: i64) {\n var s: f32 = 1.0f\n vector(8) for k in [0, "
        "n) " +
            body,
        buffers, {{"n", extent}});
  }
}

TEST(VectorizeLoops, RunsNothingWhereTheEndLiesBeforeTheBeginning) {
  const std::string text = R"(
kernel copy(A: f32*, C: mut f32*; begin: i64, end: i64) {
  vector(4) for k in [begin, end) {
    C[k] = A[k]
  }
})";
  for (const int64_t begin : {0, 3, 9, 20}) {
    expect_same(text, {{"A", floats(20)}, {"C", floats(20, 2)}},
                {{"begin", begin}, {"end", int64_t{3}}});
  }
}

TEST(VectorizeLoops, MasksTheRestOrRunsItAsScalars) {
  const std::string text = R"(
kernel copy(A: f32*, C: mut f32*; n: i64) {
  vector(8) for k in [0, n) {
    C[k] = A[k]
  }
})";
  EXPECT_TRUE(transform(kPass, text)
                  .has("C[ramp(k_rest, 1, 8) if k_mask] = A[ramp(k_rest, 1, 8) if k_mask]"));
  EXPECT_TRUE(transform(kPass, text, false).has("for k in [k_rest, k_end) {"));
}

TEST(VectorizeLoops, UsesNarrowerVectorsForTheRestOfAConstantExtent) {
  const std::string text = R"(
kernel copy(A: f32*, C: mut f32*) {
  vector(8) for k in [0, 15) {
    C[k] = A[k]
  }
})";
  const Transformed masked = transform(kPass, text);
  EXPECT_TRUE(masked.has("C[ramp(8, 1, 8) if k_mask]")) << masked.after;
  const Transformed pieces = transform(kPass, text, false);
  EXPECT_TRUE(pieces.has("C[ramp(8, 1, 4)] = A[ramp(8, 1, 4)]")) << pieces.after;
  EXPECT_TRUE(pieces.has("C[ramp(12, 1, 2)] = A[ramp(12, 1, 2)]")) << pieces.after;
  EXPECT_TRUE(pieces.has("let k: i64 = 14")) << pieces.after;
}

constexpr const char* kSpmm = R"(
kernel spmm(pos: i64*, crd: i64*, A: f32*, B: f32*, C: mut f32*; m: i64) {
  parallel for i in [0, m) {
    acc = alloc local f32[WIDTH]
    vector(8) for k in [0, WIDTH) {
      acc[k] = 0.0f
    }
    for p in [pos[i], pos[i + 1]) {
      let j: i64 = crd[p]
      let a: f32 = A[p]
      vector(8) for k in [0, WIDTH) {
        acc[k] = acc[k] + a * B[j * WIDTH + k]
      }
    }
    vector(8) for k in [0, WIDTH) {
      nontemporal C[i * WIDTH + k] = acc[k]
    }
  }
})";

std::string with_width(std::string text, int width) {
  for (size_t at = text.find("WIDTH"); at != std::string::npos; at = text.find("WIDTH")) {
    text.replace(at, 5, std::to_string(width));
  }
  return text;
}

TEST(VectorizeLoops, KeepsSpmmExact) {
  for (const int width : {1, 3, 4, 7, 8, 16, 23, 31}) {
    const Arrays buffers{{"pos", loop::to_array<int64_t>(DType::Int64, {0, 2, 2, 5})},
                         {"crd", indices(5, 4)},
                         {"A", floats(5)},
                         {"B", floats(4 * width, 2)},
                         {"C", floats(3 * width, 3)}};
    expect_same(with_width(kSpmm, width), buffers, {{"m", 3}});
  }
}

TEST(VectorizeLoops, PadsAccumulatorsInsteadOfMaskingThem) {
  const Transformed result = transform(kPass, with_width(kSpmm, 23));
  EXPECT_TRUE(result.has("acc = alloc local f32[24]")) << result.after;
  EXPECT_TRUE(
      result.has("acc[ramp(16, 1, 8)] = acc[ramp(16, 1, 8)] + broadcast(a, 8) * B[ramp(j * 23 + "
                 "16, 1, 8) if "))
      << result.after;
}

TEST(VectorizeLoops, NeverMasksAccumulatorsThatHoldMoreBehind) {
  const std::string text = R"(
kernel rows(B: f32*, C: mut f32*) {
  acc = alloc zeroed local f32[14]
  vector(8) for k in [0, 7) {
    acc[k] = acc[k] + B[k]
    acc[7 + k] = acc[7 + k] + B[7 + k]
  }
  for k in [0, 14) {
    C[k] = acc[k]
  }
})";
  const Transformed result = transform(kPass, text);
  EXPECT_FALSE(result.has(" if ")) << result.after;
  EXPECT_TRUE(result.has("f32[14]")) << result.after;
  expect_same(text, {{"B", floats(14)}, {"C", floats(14, 2)}}, {});
}

TEST(VectorizeLoops, SumsInPartialVectors) {
  const std::string text = R"(
kernel dot(A: f32*, P: i64*, x: f32*, y: mut f32*; n: i64) {
  var s: f32 = 3.0f
  vector(4) for p in [0, n) {
    let j: i64 = P[p]
    s = s + A[p] * x[j]
  }
  y[0] = s
})";
  const Transformed result = transform(kPass, text);
  EXPECT_TRUE(result.has("var s_lanes: f32x4 = broadcast(0.0f, 4)")) << result.after;
  EXPECT_TRUE(result.has("s = s + vector_reduce(add, s_lanes)")) << result.after;
  for (const int64_t n : {0, 3, 4, 11}) {
    expect_same(text,
                {{"A", floats(11)}, {"P", indices(11, 5)}, {"x", floats(5, 2)}, {"y", floats(1)}},
                {{"n", n}});
  }
}

TEST(VectorizeLoops, ReducesByEveryOperation) {
  for (const std::string update : {"s - A[k]", "min(s, A[k])", "max(A[k], s)",
                                   "fma(A[k], A[k + 1], s)", "A[k] + (s + A[k + 1])", "s * A[k]"}) {
    const std::string text =
        "kernel k(A: f64*, y: mut f64*; n: i64) {\n var s: f64 = y[0]\n vector(4) for k in [0, n) "
        "{\n s = " +
        update + "\n }\n y[0] = s\n}";
    expect_same_results({kPass}, text, {{"A", doubles(11)}, {"y", doubles(1, 2)}}, {{"n", 10}},
                        1e-12);
    expect_same_results({kPass}, text, {{"A", doubles(11)}, {"y", doubles(1, 2)}}, {{"n", 10}},
                        1e-12, false);
    EXPECT_TRUE(transform(kPass, text).remarks.empty()) << update;
  }
}

TEST(VectorizeLoops, CountsInIntegers) {
  expect_same(R"(
kernel count(P: i64*, y: mut i64*; n: i64) {
  var count: i64 = 0
  var all: bool = true
  vector(4) for k in [0, n) {
    if (P[k] < 3) {
      count = count + 1
    }
    all = all && P[k] < 5
  }
  y[0] = count
  if (all) {
    y[1] = 1
  }
})",
              {{"P", indices(11, 6)}, {"y", indices(2, 9)}}, {{"n", 11}});
}

TEST(VectorizeLoops, TurnsConditionsIntoMasks) {
  expect_same(
      R"(
kernel mix(A: f32*, P: i64*, y: mut f32*, z: mut f32*; n: i64) {
  var s: f32 = 0.0f
  vector(4) for k in [0, n) {
    let x: i64 = k + 3
    if (A[k] < 0.5f) {
      y[k] = A[x] * 2.0f
      s = s + A[x]
      var t: f32 = A[0]
      for q in [0, n) {
        t = t + A[q] * A[k]
      }
      z[k] = t
    } else {
      y[k] = A[P[k]]
      if (n > 7) {
        z[k] = 1.0f
      }
    }
    var u: f32 = 0.0f
    if (P[k] > 2) {
      u = A[k]
    }
    y[k] = y[k] + u + select(P[k] > 1, A[P[k] - 1], 2.0f)
  }
  z[n] = s
})",
      {{"A", floats(16)}, {"P", indices(11, 8)}, {"y", floats(11, 2)}, {"z", floats(12, 3)}},
      {{"n", 11}});
}

TEST(VectorizeLoops, DividesOnlyInActiveLanes) {
  expect_same(R"(
kernel divide(P: i64*, y: mut i64*; n: i64) {
  vector(4) for k in [0, n) {
    if (P[k] != 0) {
      y[k] = 100 / P[k] + 7 % P[k]
    }
  }
})",
              {{"P", indices(11, 3)}, {"y", indices(11, 50)}}, {{"n", 11}});
}

TEST(VectorizeLoops, RunsInnerLoopsWithUniformBounds) {
  const std::string text = R"(
kernel outer(pos: i64*, crd: i64*, A: f32*, B: f32*, C: mut f32*; n: i64) {
  vector(4) for k in [0, n) {
    var s: f32 = 0.0f
    for p in [pos[0], pos[1]) {
      let at: i64 = crd[p] * n + k
      s = s + A[p] * B[at]
    }
    var q: i64 = 0
    while (q < 3) {
      s = s + A[q]
      q = q + 1
    }
    C[k] = s
  }
})";
  EXPECT_TRUE(transform(kPass, text).has("B[ramp(at, 1, 4)]"));
  expect_same(text,
              {{"pos", loop::to_array<int64_t>(DType::Int64, {1, 4})},
               {"crd", indices(4, 3)},
               {"A", floats(4)},
               {"B", floats(3 * 11, 2)},
               {"C", floats(11, 3)}},
              {{"n", 11}});
}

TEST(VectorizeLoops, ScattersInTheOrderOfIterations) {
  expect_same(R"(
kernel scatter(A: f32*, P: i64*, y: mut f32*; n: i64) {
  vector(4) for k in [0, n) {
    y[P[k]] = A[k]
  }
})",
              {{"A", floats(11)}, {"P", indices(11, 4)}, {"y", floats(4, 2)}}, {{"n", 11}});
}

TEST(VectorizeLoops, AllowsStoresThatInterleave) {
  const std::string text = R"(
kernel split(A: f32*, y: mut f32*; n: i64) {
  vector(4) for k in [0, n) {
    y[2 * k] = A[k]
    y[2 * k + 1] = y[2 * k] + 1.0f
  }
})";
  EXPECT_TRUE(transform(kPass, text).remarks.empty());
  expect_same(text, {{"A", floats(11)}, {"y", floats(22, 2)}}, {{"n", 11}});
}

TEST(VectorizeLoops, PrefetchesEveryLineOnce) {
  const Transformed result = transform(kPass, R"(
kernel hint(B: f64*, C: mut f64*; j: i64) {
  vector(16) for k in [0, 16) {
    prefetch(B[j * 16 + k], 2)
    C[k] = B[k]
  }
})");
  EXPECT_TRUE(result.has("prefetch(B[j * 16], 2)\n        prefetch(B[j * 16 + 8], 2)\n"))
      << result.after;
}

struct Refused {
  const char* body;
  const char* reason;
};

class VectorizeRefusal : public testing::TestWithParam<Refused> {};

TEST_P(VectorizeRefusal, StaysSerialAndSaysWhy) {
  const std::string text =
      concat("kernel k(A: f32*, P: i64*, y: mut f32*, z: mut i64*; n: i64) {\n var s: f32 = 0.0f\n",
             " vector(4) for k in [0, n) {\n", GetParam().body, "\n }\n y[0] = s\n}");
  const Transformed result = transform(kPass, text);
  EXPECT_TRUE(result.has("for k in [0, n) {")) << result.after;
  EXPECT_FALSE(result.has("vector")) << result.after;
  ASSERT_EQ(result.remarks.size(), 1u);
  EXPECT_NE(result.remarks[0].find(GetParam().reason), std::string::npos) << result.remarks[0];
  expect_same(
      text, {{"A", floats(16)}, {"P", indices(16, 6)}, {"y", floats(40, 2)}, {"z", indices(16, 4)}},
      {{"n", 6}});
}

INSTANTIATE_TEST_SUITE_P(
    Bodies, VectorizeRefusal,
    testing::Values(
        Refused{"y[0] = y[0] + A[k]", "all iterations access one element of y"},
        Refused{"y[P[k]] = y[P[k]] + A[k]",
                "different iterations may access the same element of y"},
        Refused{"y[k] = y[k + 1]",
                "an iteration may access an element of y that another iteration writes"},
        Refused{"y[P[0] + k] = y[P[1] + k]", "an iteration may access an element of y"},
        Refused{"y[3] = A[k]", "every iteration stores a different value to one element of y"},
        Refused{"for q in [0, 4) {\n y[q + k] = A[k]\n }",
                "different iterations may access the same element of y"},
        Refused{
            "{\n let r: i64 = 0\n y[r + k] = A[k]\n }\n {\n let r: i64 = 1\n y[r + k] = A[k]\n }",
            "that another iteration writes"},
        Refused{"s = A[k]", "s carries a value from one iteration to the next"},
        Refused{"s = s * A[k] + 1.0f", "s carries a value"},
        Refused{"s = s + A[k]\n y[k] = s", "s carries a value"},
        Refused{"for q in [0, P[k]) {\n y[k] = A[q]\n }", "the bounds of the loop over q differ"},
        Refused{"var q: i64 = 0\n while (q < P[k]) {\n q = q + 1\n }\n y[k] = A[q]",
                "a while loop differs"},
        Refused{"atomic_add(y[P[k]], A[k])", "an atomic on y"},
        Refused{"sort(z, 0, k)", "a call to sort"},
        Refused{"t = alloc local f32[2]\n t[0] = A[k]\n y[k] = t[0]",
                "t is allocated in the loop"}));

TEST(VectorizeLoops, LeavesTheOuterOfTwoVectorLoops) {
  const Transformed result = transform(kPass, R"(
kernel two(C: mut f32*; n: i64) {
  vector(4) for i in [0, n) {
    vector(4) for k in [0, 8) {
      C[i * 8 + k] = 1.0f
    }
  }
})");
  ASSERT_EQ(result.remarks.size(), 1u);
  EXPECT_NE(result.remarks[0].find("the loop over i is not vectorised: an inner loop"),
            std::string::npos);
  EXPECT_TRUE(result.has("ramp(i * 8 + 4, 1, 4)")) << result.after;
}

}  // namespace
}  // namespace tulle::passes
