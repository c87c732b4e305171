// Split_rows.
#include <gtest/gtest.h>

#include "nest/parse.h"
#include "schedule/nests.h"

namespace tulle::schedule {
namespace {

constexpr std::string_view kScale =
    "nest { operand A: f32, i32, csr\n operand d: f32; result C: f32, i32, like A, csr\n"
    "forall i { forall j { C[i,j] = A[i,j] * d[i] } } }";

TEST(SplitRows, MakesChunksAndTheirRows) {
  EXPECT_EQ(body_after(kSpmm, "split_rows(i, 64, c, r)"),
            "forall c { forall r { forall j { forall k { C[i,k] += A[i,j] * B[j,k] } } } }");
  EXPECT_EQ(body_after(kScale, "split_rows(i, 64, c, r)"),
            "forall c { forall r { forall j { C[i,j] = A[i,j] * d[i] } } }");
}

TEST(SplitRows, PrintsAndParsesBack) {
  const nest::Nest nest = apply(parse_schedule("split_rows(i, 64, c, r); split(c, 4, c0, c1)"),
                                nest::parse_nest(kSpmm));
  const std::string text = nest::to_string(nest);
  EXPECT_NE(text.find("var c = chunk A(i) / 64"), std::string::npos) << text;
  EXPECT_NE(text.find("var r = row A(i) / 64"), std::string::npos) << text;
  EXPECT_EQ(nest::to_string(nest::parse_nest(text)), text);
}

TEST(SplitRows, KeepsTheRowsInTheirChunk) {
  expect_refused(kSpmm, "split_rows(i, 64, c, r); reorder(r, c)", "move it inside");
}

TEST(SplitRows, KeepsTheRowsOneAfterTheOther) {
  expect_refused(kSpmm, "split_rows(i, 64, c, r); split(r, 4, r0, r1)", "another length");
  expect_refused(kSpmm, "split_rows(i, 64, c, r); unroll(r, 4)", "leave it as it is");
}

TEST(SplitRows, RefusesDenseRows) {
  expect_refused(kDense, "split_rows(i, 64, c, r)", "use split");
}

TEST(SplitRows, RefusesPrecomputedSums) {
  expect_refused(kSpmm, "precompute(acc, k); split_rows(i, 64, c, r)", "before precompute");
}

TEST(SplitRows, RefusesSparseResults) {
  expect_refused(kSpgemm, "split_rows(i, 64, c, r)", "built entry by entry");
}

TEST(SplitRows, RefusesEmptyChunks) { expect_refused(kSpmm, "split_rows(i, 0, c, r)", "1 to"); }

TEST(SplitRows, RefusesTermsWithoutEntries) {
  expect_refused(
      "nest { operand A: f32, i32, csr\n operand B: f32; result C: f32\n"
      "forall i { forall j { C[i] += A[i,j] + B[i,j] } } }",
      "split_rows(i, 4, c, r)", "visits more than entries");
}

TEST(DealRows, MakesChunksOfPieces) {
  EXPECT_EQ(body_after(kSpmm, "deal_rows(i, 64, c, r, 132, 32)"),
            "forall c { forall r { forall j { forall k { C[i,k] += A[i,j] * B[j,k] } } } }");
  const nest::Nest nest =
      apply(parse_schedule("deal_rows(i, 64, c, r, 132, 32)"), nest::parse_nest(kSpmm));
  const std::string text = nest::to_string(nest);
  EXPECT_NE(text.find("var c = chunk A(i) / 64 in 4224 dealt 32"), std::string::npos) << text;
  EXPECT_EQ(nest::to_string(nest::parse_nest(text)), text);
  EXPECT_EQ(nest.known_extent("c"), 4224);
}

TEST(DealRows, RefusesWhatSplitRowsDoes) {
  expect_refused(kDense, "deal_rows(i, 64, c, r, 132, 32)", "use split");
  expect_refused(kSpgemm, "deal_rows(i, 64, c, r, 132, 32)",
                 "built entry by entry and needs undivided loops; leave deal_rows out");
  expect_refused(kSpmm, "precompute(acc, k); deal_rows(i, 64, c, r, 132, 32)",
                 "put deal_rows before precompute");
  expect_refused(kSpmm, "deal_rows(i, 64, c, r, 132, 32); reorder(r, c)", "move it inside");
}

TEST(DealRows, RefusesNumbersThatCannotBe) {
  expect_refused(kSpmm, "deal_rows(i, 64, c, r, 0, 32)", "1 to 32768");
  expect_refused(kSpmm, "deal_rows(i, 64, c, r, 132, 0)", "1 to 32768");
  expect_refused(kSpmm, "deal_rows(i, 0, c, r, 132, 32)", "1 to");
}

TEST(SplitRows, CutsRowsOfMaxima) {
  const auto nest_with = [](const char* assign) {
    return concat("nest { operand A: f32, i32, csr\n operand x: f32; result y: f32\n",
                  "forall i { forall j { ", assign, " } } }");
  };
  for (const char* assign : {"y[i] max= A[i,j] * x[j]", "y[i] *= A[i,j] * x[j]"}) {
    EXPECT_EQ(body_after(nest_with(assign), "split_rows(i, 8, c, r)"),
              concat("forall c { forall r { forall j { ", assign, " } } }"));
  }
  expect_refused(nest_with("y[i] = A[i,j] * x[j]"), "split_rows(i, 8, c, r)",
                 "is no sum, product, maximum or minimum");
}

TEST(DealRows, RefusesSumsThatPiecesOfARowWouldShare) {
  expect_refused(kSpmm, "deal_rows(i, 64, c, r, 132, 32); reorder(c, j, r); precompute(w, (r, k))",
                 "a chunk may have several pieces");
  expect_refused(kSpmm, "deal_rows(i, 64, c, r, 132, 32); reorder(c, j, r, k); rfactor(j, p)",
                 "a chunk may have several pieces");
}

}  // namespace
}  // namespace tulle::schedule
