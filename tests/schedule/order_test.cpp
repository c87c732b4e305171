// Tests of split, fuse and reorder, which change the loops.
#include <gtest/gtest.h>

#include "schedule/nests.h"

namespace tulle::schedule {
namespace {

TEST(Split, CutsEveryLoopOverTheVariable) {
  EXPECT_EQ(body_after(kSpmm, "precompute(acc, k); split(k, 8, k0, k1)"),
            "forall i { where acc { forall k0 { forall k1 { C[i,k] = acc[k0,k1] } } } producing { "
            "forall j { forall k0 { forall k1 { acc[k0,k1] += A[i,j] * B[j,k] } } } } }");
}

TEST(Split, KeepsProvenance) {
  const nest::Nest nest = apply(parse_schedule("split(j, 3, j0, j1)"), nest::parse_nest(kDense));
  const nest::Variable outer{.origin = nest::Variable::Origin::Outer, .parent = "j", .factor = 3};
  const nest::Variable inner{.origin = nest::Variable::Origin::Inner, .parent = "j", .factor = 3};
  EXPECT_EQ(nest.variable("j0"), outer);
  EXPECT_EQ(nest.variable("j1"), inner);
  EXPECT_EQ(nest.known_extent("j0"), 3);
  EXPECT_EQ(nest.known_extent("j1"), 3);
}

TEST(Split, TakesDerivedVariables) {
  EXPECT_EQ(body_after(kDense, "split(j, 4, j0, j1); split(j0, 2, a, b)"),
            "forall i { forall a { forall b { forall j1 { Y[i,j] = X[i,j] * 2 } } } }");
}

TEST(Split, RemarksOnSparseVariables) {
  EXPECT_TRUE(remarks_of(kSpmm, "split(k, 64, k0, k1)").empty());
  const Remarks remarks = remarks_of(kSpmm, "split(j, 64, j0, j1)");
  ASSERT_EQ(remarks.size(), 1U);
  EXPECT_NE(remarks[0].find("'A' holds only some coordinates of 'j'"), std::string::npos);
}

TEST(Split, RefusesUnknownLoops) {
  expect_refused(kSpmm, "split(q, 4, a, b)", "no loop over 'q'; the loops are i, j, k");
}

TEST(Split, RefusesFactorsBelowOne) {
  expect_refused(kSpmm, "split(k, 0, a, b)", "1 to 2147483647");
}

TEST(Split, RefusesNamesOfVariables) {
  expect_refused(kSpmm, "split(k, 4, i, b)", "'i' is already a variable");
}

TEST(Split, RefusesNamesOfTensors) {
  expect_refused(kSpmm, "split(k, 4, a, B)", "'B' is already a tensor");
}

TEST(Split, RefusesOneNameForBoth) {
  expect_refused(kSpmm, "split(k, 4, a, a)", "the names in a step differ");
}

TEST(Split, RefusesTaggedLoops) {
  expect_refused(kSpmm, "vectorize(k, 8); split(k, 4, a, b)", "put split before vectorize");
}

TEST(Split, RefusesTrackedVariables) {
  expect_refused(kSpgemm, "precompute(acc, k, tracked); split(k, 4, a, b)",
                 "'acc' tracks the coordinates of 'k'");
}

TEST(Fuse, MakesOneLoopOfTwo) {
  EXPECT_EQ(body_after(kDense, "fuse(i, j, f)"), "forall f { Y[i,j] = X[i,j] * 2 }");
}

TEST(Fuse, TakesDerivedVariables) {
  EXPECT_EQ(body_after(kDense, "split(j, 4, j0, j1); fuse(i, j0, f); parallel(f)"),
            "forall f parallel(rows) { forall j1 { Y[i,j] = X[i,j] * 2 } }");
}

TEST(Fuse, RefusesSparseVariables) {
  expect_refused(kSpmm, "fuse(i, j, f)", "'A' holds only some coordinates of 'j'");
}

TEST(Fuse, RefusesSparseResults) {
  expect_refused(
      "nest { operand X: f32; result Y: f32, i32, csr\n forall i { forall j { Y[i,j] = X[i,j] } } "
      "}",
      "fuse(i, j, f)", "'Y' holds only some coordinates of 'j'");
}

TEST(Fuse, RefusesLoopsThatAreApart) {
  expect_refused(kSpmm, "fuse(i, k, f)", "reorder(i, k) first");
}

TEST(Fuse, RefusesTheWrongOrder) {
  expect_refused(kDense, "fuse(j, i, f)", "is directly inside one over 'j'");
}

TEST(Fuse, RefusesOneLoopTwice) { expect_refused(kDense, "fuse(i, i, f)", "'i' stands twice"); }

TEST(Fuse, RefusesTakenNames) {
  expect_refused(kDense, "fuse(i, j, X)", "'X' is already a tensor");
}

TEST(Fuse, RefusesTaggedLoops) {
  expect_refused(kDense, "parallel(i); fuse(i, j, f)", "put fuse before parallel");
}

TEST(Reorder, PermutesAll) {
  EXPECT_EQ(body_after(kSpmm, "reorder(k, i, j)"),
            "forall k { forall i { forall j { C[i,k] += A[i,j] * B[j,k] } } }");
}

TEST(Reorder, LeavesOtherLoopsInPlace) {
  EXPECT_EQ(body_after(kSpmm, "reorder(k, i)"),
            "forall k { forall j { forall i { C[i,k] += A[i,j] * B[j,k] } } }");
}

TEST(Reorder, TakesTagsAlong) {
  EXPECT_EQ(body_after(kSpmm, "unroll(j, 2); reorder(k, j)"),
            "forall i { forall k { forall j unrolled(2) { C[i,k] += A[i,j] * B[j,k] } } }");
}

TEST(Reorder, FindsTheChainBelowAWhere) {
  EXPECT_EQ(body_after(kSpmm, "precompute(acc, k); reorder(k, j)"),
            "forall i { where acc { forall k { C[i,k] = acc[k] } } producing { "
            "forall k { forall j { acc[k] += A[i,j] * B[j,k] } } } }");
}

TEST(Reorder, RefusesLoopsAcrossAWhere) {
  expect_refused(kSpmm, "precompute(acc, k); reorder(j, i)", "are not directly nested");
}

TEST(Reorder, RefusesLoopsInDifferentBranches) {
  expect_refused(
      "nest { operand X: f32; result y: f32\n"
      "sequence { forall i { y[i] = X[i] }; forall j { y[j] += X[j] } } }",
      "reorder(i, j)", "different branches");
}

TEST(Reorder, RefusesUnknownLoops) { expect_refused(kSpmm, "reorder(i, q)", "no loop over 'q'"); }

TEST(Reorder, RefusesALoopTwice) { expect_refused(kSpmm, "reorder(i, i)", "twice"); }

TEST(Reorder, RefusesASingleLoop) {
  expect_refused(kSpmm, "reorder(i)", "does not take 1 argument;");
}

TEST(Reorder, RefusesMovingAParallelLoop) {
  expect_refused(kSpmm, "parallel(i); reorder(k, i)", "must stay outermost");
}

TEST(Reorder, RefusesMovingAVectorLoop) {
  expect_refused(kSpmm, "vectorize(k, 16); reorder(k, j)", "must stay innermost");
}

TEST(Reorder, RefusesOverwrites) {
  expect_refused("nest { operand X: f32; result y: f32\n forall i { forall j { y[i] = X[i,j] } } }",
                 "reorder(j, i)", "'y' is overwritten for each 'j'");
}

}  // namespace
}  // namespace tulle::schedule
