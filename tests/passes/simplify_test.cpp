// Simplification rules, and unchanged results.
#include "fixture.h"
#include "support/check.h"

namespace tulle::passes {
namespace {

std::string simplified(const std::string& body) {
  const std::string head =
      "kernel k(A: f32*, L: mut i64*, y: mut f32*; n: i64, m: i64, a: f32, c: bool) {\n";
  const std::string after = transform("simplify", head + body + "\n}").after;
  const size_t begin = after.find('\n') + 1;
  return after.substr(begin, after.rfind('}') - begin);
}

std::string simplified_index(const std::string& index) {
  const std::string after = simplified("L[0] = " + index);
  return after.substr(9, after.find('\n') - 9);
}

TEST(Simplify, ShortensIndices) {
  EXPECT_EQ(simplified_index("n + 3 + 4"), "n + 7");
  EXPECT_EQ(simplified_index("n + 3 - n"), "3");
  EXPECT_EQ(simplified_index("(n + m) - (m + n)"), "0");
  EXPECT_EQ(simplified_index("n * 2 + n"), "n * 3");
  EXPECT_EQ(simplified_index("min(n, n + 1)"), "n");
  EXPECT_EQ(simplified_index("max(n - 2, n + 1)"), "n + 1");
  EXPECT_EQ(simplified_index("n * m + 16"), "n * m + 16");
}

TEST(Simplify, DecidesComparisons) {
  EXPECT_EQ(simplified("if (n < n + 1) {\n y[0] = a\n }"), "  y[0] = a\n");
  EXPECT_EQ(simplified("if (n + 2 <= n) {\n y[0] = a\n } else {\n y[1] = a\n }"), "  y[1] = a\n");
  EXPECT_EQ(simplified("if (not(n < m)) {\n y[0] = a\n }"), "  if (n >= m) {\n    y[0] = a\n  }\n");
  EXPECT_EQ(simplified("if (not(a < 0.0f)) {\n y[0] = a\n }"),
            "  if (not(a < 0.0f)) {\n    y[0] = a\n  }\n");
}

TEST(Simplify, KeepsFloatsToTheBit) {
  EXPECT_EQ(simplified("y[0] = a * 1.0f"), "  y[0] = a\n");
  EXPECT_EQ(simplified("y[0] = a + 0.0f"), "  y[0] = a + 0.0f\n");
  EXPECT_EQ(simplified("y[0] = a * 0.0f"), "  y[0] = a * 0.0f\n");
  EXPECT_EQ(simplified("y[0] = 1.5f + 2.0f"), "  y[0] = 3.5f\n");
}

TEST(Simplify, ForwardsTrivialLets) {
  EXPECT_EQ(simplified("let x: i64 = n + 1\n let z: i64 = x\n L[z] = x"), "  L[n + 1] = n + 1\n");
  EXPECT_EQ(simplified("var v: i64 = n\n let x: i64 = v\n v = m\n L[0] = x\n L[1] = v"),
            "  var v: i64 = n\n  let x: i64 = v\n  v = m\n  L[0] = x\n  L[1] = v\n");
}

TEST(Simplify, DropsWhatNothingReads) {
  EXPECT_EQ(simplified("let x: f32 = A[0]\n y[0] = a"), "  y[0] = a\n");
  EXPECT_EQ(simplified("var s: f32 = 0.0f\n for i in [0, n) {\n s = s + A[i]\n }\n y[0] = a"),
            "  y[0] = a\n");
  EXPECT_EQ(
      simplified("t = alloc local f32[4]\n for i in [0, 4) {\n t[i] = t[i] + a\n }\n y[0] = a"),
      "  y[0] = a\n");
  EXPECT_EQ(simplified("if (c) {\n for i in [0, n) {\n }\n }\n y[0] = a"), "  y[0] = a\n");
}

TEST(Simplify, ResolvesLoopsOfOneAndNoIteration) {
  EXPECT_EQ(simplified("for i in [n, n + 1) {\n L[i] = i\n }"), "  L[n] = n\n");
  EXPECT_EQ(simplified("for i in [n, n) {\n L[i] = i\n }\n y[0] = a"), "  y[0] = a\n");
  EXPECT_EQ(simplified("for i in [0, 3) by 3 {\n L[i] = i\n }"), "  L[0] = 0\n");
  EXPECT_EQ(simplified("parallel for i in [0, 1) {\n L[i] = i\n }"),
            "  parallel for i in [0, 1) {\n    L[i] = i\n  }\n");
}

TEST(Simplify, KeepsScopesApart) {
  EXPECT_EQ(
      simplified("{\n let x: f32 = A[0]\n y[0] = x\n }\n {\n let x: f32 = A[1]\n y[1] = x\n }"),
      "  {\n    let x: f32 = A[0]\n    y[0] = x\n  }\n  {\n    let x: f32 = A[1]\n    y[1] = x\n  "
      "}\n");
  EXPECT_EQ(simplified("{\n {\n y[0] = a\n }\n y[1] = a\n }"), "  y[0] = a\n  y[1] = a\n");
}

TEST(Simplify, ForgetsMasksThatAreTrue) {
  EXPECT_EQ(
      simplified(
          "y[ramp(0, 1, 4) if broadcast(n < n + 1, 4)] = A[ramp(0, 1, 4) if broadcast(true, 4)]"),
      "  y[ramp(0, 1, 4)] = A[ramp(0, 1, 4)]\n");
}

TEST(Simplify, KeepsResults) {
  expect_same_results({"simplify"}, R"(
kernel k(A: f32*, y: mut f32*; n: i64) {
  var unread: f32 = 0.0f
  for i in [0, n) {
    let j: i64 = i + 1 - 1
    t = alloc local f32[2]
    t[0] = A[j] * 1.0f
    t[1] = 2.0f
    for q in [j, j + 1) {
      y[q] = t[0] + t[1] * A[j + 1 - 1]
    }
    unread = unread + A[i]
  }
})",
                      {{"A", floats(9)}, {"y", floats(9, 2)}}, {{"n", 9}});
}

}  // namespace
}  // namespace tulle::passes
