// Split_entries.
#include <gtest/gtest.h>

#include "nest/parse.h"
#include "schedule/nests.h"

namespace tulle::schedule {
namespace {

constexpr std::string_view kSddmm =
    "nest { operand A: f32, i32, csr\n operand Q: f32; operand K: f32; result S: f32, i32, like A, "
    "csr\n forall i { forall j { forall d { S[i,j] += A[i,j] * Q[i,d] * K[j,d] } } } }";

TEST(SplitEntries, MakesChunksAndTheirEntries) {
  EXPECT_EQ(body_after(kSddmm, "split_entries(i, j, 8, c, e)"),
            "forall c { forall e { forall d { S[i,j] += A[i,j] * Q[i,d] * K[j,d] } } }");
}

TEST(SplitEntries, PrintsAndParsesBack) {
  const nest::Nest nest = apply(parse_schedule("split_entries(i, j, 8, c, e); split(c, 4, c0, c1)"),
                                nest::parse_nest(kSddmm));
  const std::string text = nest::to_string(nest);
  EXPECT_NE(text.find("var c = chunk A(i, j) / 8"), std::string::npos) << text;
  EXPECT_NE(text.find("var e = entry A(i, j) / 8"), std::string::npos) << text;
  EXPECT_EQ(nest::to_string(nest::parse_nest(text)), text);
}

TEST(SplitEntries, KeepsTheEntriesInTheirChunk) {
  expect_refused(kSddmm, "split_entries(i, j, 8, c, e); reorder(e, c)", "move it inside");
}

TEST(SplitEntries, KeepsTheEntriesOneAfterTheOther) {
  expect_refused(kSddmm, "split_entries(i, j, 8, c, e); split(e, 4, e0, e1)", "another length");
  expect_refused(kSddmm, "split_entries(i, j, 8, c, e); bind(e, lane)", "leave it as it is");
}

TEST(SplitEntries, LeavesSumsToAtomics) {
  expect_refused(kSpmm, "split_entries(i, j, 8, c, e); parallel(c)", "is summed into");
  expect_refused(kSpmm, "split_entries(i, j, 8, c, e); bind(c, block)", "sums=atomics");
}

TEST(SplitEntries, RefusesLoopsThatStandApart) {
  expect_refused(kSddmm, "split_entries(i, d, 8, c, e)", "bring them together");
}

TEST(SplitEntries, RefusesDenseRows) {
  expect_refused(kDense, "split_entries(i, j, 8, c, e)", "no entries to count");
}

TEST(SplitEntries, RefusesTermsWithoutEntries) {
  expect_refused(
      "nest { operand A: f32, i32, csr\n operand B: f32; result C: f32\n"
      "forall i { forall j { C[i,j] = A[i,j] + B[i,j] } } }",
      "split_entries(i, j, 8, c, e)", "visits more than entries");
}

TEST(SplitEntries, RefusesEmptyChunks) {
  expect_refused(kSddmm, "split_entries(i, j, 0, c, e)", "1 to");
}

TEST(SplitEntries, CutsListsOfEntries) {
  const auto nest_over = [](const char* format) {
    return concat("nest { operand A: f32, i32, ", format,
                  "\n operand x: f32; result y: f32\n"
                  "forall i { forall j { y[i] += A[i,j] * x[j] } } }");
  };
  EXPECT_EQ(body_after(nest_over("coo"), "split_entries(i, j, 8, c, e)"),
            "forall c { forall e { y[i] += A[i,j] * x[j] } }");
  // Entries with equal coordinates must be added up first, adjacent or not.
  for (const char* format :
       {"(i,j) -> (i: compressed nonunique, j: singleton nonunique)",
        "(i,j) -> (i: compressed nonunique unordered, j: singleton unordered)"}) {
    expect_refused(nest_over(format), "split_entries(i, j, 8, c, e)", "'A' does not store");
  }
}

}  // namespace
}  // namespace tulle::schedule
