// Split_positions: pieces of the entries of a row.
#include <gtest/gtest.h>

#include "schedule/nests.h"

namespace tulle::schedule {
namespace {

TEST(SplitPositions, CutsTheEntriesOfARow) {
  EXPECT_EQ(body_after(kSpmm, "split_positions(j, 32, j0, j1)"),
            "forall i { forall j0 { forall j1 { forall k { C[i,k] += A[i,j] * B[j,k] } } } }");
}

TEST(SplitPositions, MayStandTheOtherWayRound) {
  EXPECT_EQ(body_after(kSpmm, "split_positions(j, 32, j0, j1); reorder(j1, j0)"),
            "forall i { forall j1 { forall j0 { forall k { C[i,k] += A[i,j] * B[j,k] } } } }");
}

TEST(SplitPositions, RefusesDenseLoops) {
  expect_refused(kSpmm, "split_positions(k, 4, k0, k1)", "use split");
}

TEST(SplitPositions, RefusesMerges) {
  expect_refused(
      "nest { operand A: f32, i32, csr\n operand B: f32, i32, csr\n result y: f32\n"
      "forall i { forall j { y[i] += A[i,j] * B[i,j] } } }",
      "split_positions(j, 4, j0, j1)", "'A' and 'B' together");
}

TEST(SplitPositions, RefusesTermsWithoutTheOperand) {
  expect_refused(
      "nest { operand A: f32, i32, csr\n operand b: f32; result y: f32\n"
      "forall i { forall j { y[i] += A[i,j] + b[j] } } }",
      "split_positions(j, 4, j0, j1)", "has terms where 'A' has no entry");
}

TEST(SplitPositions, RefusesResultsOfTheirOwnPattern) {
  expect_refused(kSpgemm, "split_positions(j, 4, j0, j1)", "built entry by entry");
}

TEST(SplitPositions, RefusesToStandOutsideTheRows) {
  expect_refused(kSpmm, "split_positions(j, 4, j0, j1); reorder(j1, i, j0)",
                 "is outside the loop over it");
}

TEST(SplitPositions, RefusesToBeSplit) {
  expect_refused(kSpmm, "split_positions(j, 4, j0, j1); split(j1, 2, a, b)", "another length");
}

TEST(SplitPositions, RefusesPiecesOfNothing) {
  expect_refused(kSpmm, "split_positions(j, 0, j0, j1)", "1 to");
}

}  // namespace
}  // namespace tulle::schedule
