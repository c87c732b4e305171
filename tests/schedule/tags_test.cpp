// Tests of the rewrites that tag loops and tensors: parallel, vectorize, unroll, prefetch
// and nontemporal.
#include <gtest/gtest.h>

#include "schedule/nests.h"

namespace tulle::schedule {
namespace {

TEST(Parallel, TagsTheOutermostLoop) {
  const std::string rest = "{ forall j { forall k { C[i,k] += A[i,j] * B[j,k] } } }";
  EXPECT_EQ(body_after(kSpmm, "parallel(i)"), "forall i parallel(rows) " + rest);
  EXPECT_EQ(body_after(kSpmm, "parallel(i, by=nnz)"), "forall i parallel(nnz) " + rest);
}

TEST(Parallel, TagsTheLoopsOfASequence) {
  EXPECT_EQ(body_after(
                "nest { operand A: f32, i32, csr\n operand b: f32; result y: f32\n"
                "sequence { forall i { y[i] = b[i] }; forall i { forall j { y[i] += A[i,j] } } } }",
                "parallel(i, by=nnz)"),
            "sequence { forall i parallel(rows) { y[i] = b[i] } "
            "forall i parallel(nnz) { forall j { y[i] += A[i,j] } } }");
}

TEST(Parallel, TakesBlocksOfRows) {
  EXPECT_EQ(body_after(kSpmm, "split(i, 32, i0, i1); parallel(i0, by=nnz)"),
            "forall i0 parallel(nnz) { forall i1 { forall j { forall k { C[i,k] += A[i,j] * B[j,k] "
            "} } } }");
}

TEST(Parallel, RefusesInnerLoops) {
  expect_refused(kSpmm, "parallel(j)", "Only an outermost loop");
}

TEST(Parallel, RefusesSummedLoops) {
  expect_refused(kSpmm, "reorder(j, i); parallel(j)", "'j' is summed into 'C'");
}

TEST(Parallel, RefusesSummedLoopsInAWhere) {
  expect_refused("nest { operand A: f32; result y: f32\n forall i { y += A[i] } }",
                 "precompute(t); parallel(i)", "Only an outermost loop");
}

TEST(Parallel, RefusesPartlySummedLoops) {
  expect_refused(
      "nest { operand A: f32; result y: f32\n forall i { forall j { y[i] += A[i,j] } } }",
      "fuse(i, j, f); parallel(f)", "'f' is summed into 'y'");
}

TEST(Parallel, RefusesLoopsTwice) {
  expect_refused(kSpmm, "parallel(i); parallel(i)", "already has parallel");
}

TEST(Parallel, RefusesTaggedLoops) {
  expect_refused(kSpmm, "unroll(i, 2); parallel(i)", "already has unroll");
}

TEST(Parallel, RefusesEntriesOfDenseOperands) {
  expect_refused(kDense, "parallel(i, by=nnz)", "parallel(i, by=rows)");
}

TEST(Parallel, RefusesEntriesAcrossTheStorage) {
  expect_refused(
      "nest { operand A: f32, i32, csc\n result y: f32\n forall i { forall j { y[i] += A[i,j] } } "
      "}",
      "parallel(i, by=nnz)", "No operand has a compressed level right below 'i'");
}

TEST(ParallelByMerge, CutsRowsThatAreGathered) {
  EXPECT_EQ(body_after(kSpmm, "precompute(acc, k); parallel(i, by=merge)"),
            "forall i parallel(merge) { where acc { forall k { C[i,k] = acc[k] } } producing { "
            "forall j { forall k { acc[k] += A[i,j] * B[j,k] } } } }");
}

TEST(ParallelByMerge, CutsRowsWhoseEntriesHavePlacesOfTheirOwn) {
  EXPECT_EQ(body_after("nest { operand A: f32, i32, csr\n operand b: f32; result C: f32\n"
                       "forall i { forall j { C[i,j] = A[i,j] * b[i] } } }",
                       "parallel(i, by=merge)"),
            "forall i parallel(merge) { forall j { C[i,j] = A[i,j] * b[i] } }");
}

TEST(ParallelByMerge, RefusesSumsInPlace) {
  expect_refused(kSpmm, "parallel(i, by=merge)", "gather it first, with precompute(acc)");
}

TEST(ParallelByMerge, RefusesRowsThatAreNotStored) {
  expect_refused(kDense, "parallel(i, by=merge)", "No operand stores rows of entries along 'i'");
  expect_refused(
      "nest { operand A: f32, i32, csc\n result y: f32\n forall i { forall j { y[i] += A[i,j] } } "
      "}",
      "precompute(acc); parallel(i, by=merge)", "No operand stores rows of entries along 'i'");
}

TEST(ParallelByMerge, RefusesWhatHangsOnMoreThanEntries) {
  expect_refused(
      "nest { operand A: f32, i32, csr\n operand b: f32; result y: f32\n"
      "forall i { forall j { y[i] += A[i,j] + b[j] } } }",
      "precompute(acc); parallel(i, by=merge)", "has terms where 'A' has no entry");
}

TEST(ParallelByMerge, RefusesLoopsBetweenRowsAndWorkspaces) {
  expect_refused(kSpmm,
                 "split(k, 4, k0, k1); reorder(i, k0, j, k1); precompute(acc, k1); "
                 "parallel(i, by=merge)",
                 "'acc' is filled again in each iteration over 'k0'");
  expect_refused(kSpmm, "reorder(i, k, j); precompute(acc); parallel(i, by=merge)",
                 "move 'k' inside the loop over 'j' (reorder) and gather along it too");
}

TEST(ParallelByMerge, RefusesSumsOfNothingInExpressions) {
  expect_refused(
      "nest { operand A: f32, i32, csr\n operand b: f32; result y: f32\n workspace t: f32\n"
      "forall i { where t { y[i] = t / b[i] } producing { forall j { t += A[i,j] } } } }",
      "parallel(i, by=merge)", "a sum of nothing differs from 0");
  // An absent value in a denominator or under a function is not 0.
  EXPECT_EQ(
      body_after(
          "nest { operand A: f32, i32, csr\n operand b: f32; result y: f32\n workspace t: f32\n"
          "forall i { where t { y[i] = relu(b[i] / t) } producing { forall j { t += A[i,j] } } } }",
          "parallel(i, by=merge)"),
      "forall i parallel(merge) { where t { y[i] = relu(b[i] / t) } producing { forall j { t += "
      "A[i,j] } } }");
}

TEST(ParallelByMerge, CutsRowsWhoseEntriesAreAppended) {
  for (const char* from : {"csr", "coo"}) {
    for (const char* to :
         {"csr", "coo", "(i,j) -> (j: compressed nonunique unordered, i: singleton unordered)"}) {
      EXPECT_EQ(body_after(concat("nest { operand A: f32, i32, ", from, "\n result C: f32, i32, ",
                                  to, "\nforall i { forall j { C[i,j] = A[i,j] * 2 } } }"),
                           "parallel(i, by=merge)"),
                "forall i parallel(merge) { forall j { C[i,j] = A[i,j] * 2 } }");
    }
  }
}

TEST(ParallelByMerge, RefusesRowsOfResultsThatAreBuiltWhole) {
  for (const char* format : {"dcsr", "ell(4)", "(i,j) -> (i: dense, j: compressed multiple(4))"}) {
    expect_refused(concat("nest { operand A: f32, i32, csr\n result C: f32, i32, ", format,
                          "\nforall i { forall j { C[i,j] = A[i,j] * 2 } } }"),
                   "parallel(i, by=merge)", "'C' is built entry by entry");
  }
}

TEST(ParallelByMerge, RefusesToGatherRowsThatAreListed) {
  expect_refused(
      "nest { operand A: f32, i32, coo\n result y: f32\n forall i { forall j { y[i] += A[i,j] } } "
      "}",
      "precompute(acc); parallel(i, by=merge)", "does not store where they begin");
}

TEST(ParallelByMerge, RefusesToWalkOverOthers) {
  const auto nest_with = [](const char* other, const char* result) {
    return concat("nest { operand A: f32, i32, csr\n operand B: f32, i32, ", other,
                  "; result C: f32", result,
                  "\nforall i { forall j { C[i,j] = A[i,j] + B[i,j] } } }");
  };
  EXPECT_EQ(body_after(nest_with("csr", ", i32, csr"), "parallel(i, by=merge)"),
            "forall i parallel(merge) { forall j { C[i,j] = A[i,j] + B[i,j] } }");
  const std::string why = "walks over 'B', not only over the rows of 'A'";
  expect_refused(nest_with("dcsr", ", i32, csr"), "parallel(i, by=merge)", why);
  expect_refused(nest_with("csr", ""), "parallel(i, by=merge)", why);
}

TEST(ParallelByMerge, RefusesWhatComesAfterItAndBreaksIt) {
  expect_refused(kSpmm, "precompute(acc, k); parallel(i, by=merge); split_positions(j, 4, j0, j1)",
                 "No operand stores rows of entries along 'i' with a loop over their entries");
}

TEST(Vectorize, TagsInnermostLoops) {
  EXPECT_EQ(body_after(kSpmm, "precompute(acc, k); vectorize(k, 16)"),
            "forall i { where acc { forall k vector(16) { C[i,k] = acc[k] } } producing { "
            "forall j { forall k vector(16) { acc[k] += A[i,j] * B[j,k] } } } }");
}

TEST(Vectorize, TagsWhatItCan) {
  const std::string_view nest =
      "nest { operand A: f32, i32, csr\n operand B: f32, i32, csr\n result C: f32\n"
      "forall i { forall j { forall k { C[i,k] += A[i,j] * B[j,k] } } } }";
  EXPECT_EQ(body_after(nest, "precompute(acc, k); vectorize(k, 8)"),
            "forall i { where acc { forall k vector(8) { C[i,k] = acc[k] } } producing { "
            "forall j { forall k { acc[k] += A[i,j] * B[j,k] } } } }");
  EXPECT_EQ(remarks_of(nest, "precompute(acc, k); vectorize(k, 8)").size(), 1U);
}

TEST(Vectorize, RefusesOuterLoops) { expect_refused(kSpmm, "vectorize(i, 8)", "not innermost"); }

TEST(Vectorize, RefusesSparseVariables) {
  expect_refused(kSpmm, "reorder(i, k, j); vectorize(j, 8)",
                 "'A' holds only some coordinates of 'j'");
}

TEST(Vectorize, RefusesBlocksOfSparseVariables) {
  expect_refused(kSpmm, "split(j, 8, j0, j1); reorder(i, k, j0, j1); vectorize(j1, 8)",
                 "'A' holds only some coordinates of 'j1'");
}

TEST(Vectorize, RefusesTrackedVariables) {
  expect_refused(
      "nest { operand A: f32, i32, csr\n operand B: f32; result C: f32, i32, csr\n"
      "forall i { forall j { forall k { C[i,k] += A[i,j] * B[j,k] } } } }",
      "precompute(acc, k, tracked); vectorize(k, 8)", "holds only some coordinates of 'k'");
}

TEST(Vectorize, RefusesOddLanes) {
  expect_refused(kSpmm, "vectorize(k, 12)", "2 to 64 lanes, a power of two, but 12 was given");
}

TEST(Vectorize, RefusesTooManyLanes) {
  expect_refused(kSpmm, "vectorize(k, 128)", "but 128 was given");
}

TEST(Vectorize, RefusesOneLane) { expect_refused(kSpmm, "vectorize(k, 1)", "but 1 was given"); }

TEST(Vectorize, RefusesTaggedLoops) {
  expect_refused(kSpmm, "unroll(k, 4); vectorize(k, 8)", "split it first");
}

TEST(Unroll, TagsLoops) {
  EXPECT_EQ(body_after(kSpmm, "unroll(j, 4)"),
            "forall i { forall j unrolled(4) { forall k { C[i,k] += A[i,j] * B[j,k] } } }");
}

TEST(Unroll, TakesAllOfAKnownExtent) {
  EXPECT_EQ(body_after(kDense, "unroll(j, 0)"),
            "forall i { forall j unrolled { Y[i,j] = X[i,j] * 2 } }");
  EXPECT_EQ(
      body_after(kSpmm, "split(k, 8, k0, k1); unroll(k1, 0)"),
      "forall i { forall j { forall k0 { forall k1 unrolled { C[i,k] += A[i,j] * B[j,k] } } } }");
}

TEST(Unroll, RefusesAllOfAnUnknownExtent) {
  expect_refused(kSpmm, "unroll(k, 0)", "unknown at compile time");
}

TEST(Unroll, RefusesAllOfALongLoop) {
  expect_refused(kSpmm, "split(k, 256, k0, k1); unroll(k1, 0)", "runs 256 times");
}

TEST(Unroll, RefusesAllOfASparseLoop) {
  expect_refused(kSpmm, "split(j, 4, j0, j1); unroll(j1, 0)", "the trip count is unknown");
}

TEST(Unroll, RefusesOneCopy) {
  expect_refused(kSpmm, "unroll(j, 1)", "2 to 128 copies, or 0 for all, but 1 was given");
}

TEST(Unroll, RefusesUnknownLoops) { expect_refused(kSpmm, "unroll(q, 2)", "no loop over 'q'"); }

TEST(Prefetch, NotesTheOperand) {
  const nest::Nest nest = apply(parse_schedule("prefetch(B, 16)"), nest::parse_nest(kSpmm));
  ASSERT_EQ(nest.prefetches.size(), 1U);
  EXPECT_EQ(nest.prefetches[0].tensor, "B");
  EXPECT_EQ(nest.prefetches[0].distance, 16);
}

TEST(Prefetch, RefusesResults) {
  expect_refused(kSpmm, "prefetch(C, 16)", "'C' is no operand; the operands are A, B");
}

TEST(Prefetch, RefusesDistanceZero) { expect_refused(kSpmm, "prefetch(B, 0)", "but 0 was given"); }

TEST(Prefetch, RefusesATensorTwice) {
  expect_refused(kSpmm, "prefetch(B, 8); prefetch(B, 16)", "already has prefetch");
}

TEST(Nontemporal, NotesTheResult) {
  const nest::Nest nest = apply(parse_schedule("nontemporal(Y)"), nest::parse_nest(kDense));
  EXPECT_EQ(nest.nontemporal, std::vector<std::string>{"Y"});
}

TEST(Nontemporal, RemarksOnAccumulation) {
  EXPECT_EQ(remarks_of(kSpmm, "nontemporal(C)").size(), 1U);
  EXPECT_TRUE(remarks_of(kSpmm, "precompute(acc, k); nontemporal(C)").empty());
}

TEST(Nontemporal, RefusesOperands) {
  expect_refused(kSpmm, "nontemporal(B)", "'B' is no result; the results are C");
}

TEST(Nontemporal, RefusesATensorTwice) {
  expect_refused(kSpmm, "nontemporal(C); nontemporal(C)", "already has nontemporal");
}

}  // namespace
}  // namespace tulle::schedule
