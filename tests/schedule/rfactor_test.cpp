// Rfactor: partial sums.
#include <gtest/gtest.h>

#include "schedule/nests.h"

namespace tulle::schedule {
namespace {

TEST(Rfactor, SumsForEachIteration) {
  EXPECT_EQ(body_after(kSpmm, "rfactor(j, part)"),
            "forall i { where part { forall k { forall j { C[i,k] += part[j,k] } } } producing { "
            "forall j { forall k { part[j,k] += A[i,j] * B[j,k] } } } }");
}

TEST(Rfactor, SumsIntoAWorkspace) {
  EXPECT_EQ(
      body_after(kSpmm, "precompute(acc, k); rfactor(j, part)"),
      "forall i { where acc { forall k { C[i,k] = acc[k] } } producing { where part { forall k "
      "{ forall j { acc[k] += part[j,k] } } } producing { forall j { forall k { part[j,k] += "
      "A[i,j] * B[j,k] } } } } }");
}

TEST(Rfactor, MergesTuples) {
  EXPECT_EQ(
      body_after(kSoftmax, "split_positions(j, 4, j0, j1); reorder(j1, j0); rfactor(j1, part)"),
      "forall i { where top, total, sum { forall d { O[i,d] = sum[d] / total } } producing { "
      "where part.top, part.total, part.sum { forall j1 { sequence { top max= part.top[j1] total "
      "scaled= part.total[j1] forall d { sum[d] scaled= part.sum[j1,d] } } } } producing { forall "
      "j1 { forall j0 { sequence { part.top[j1] max= A[i,j] part.total[j1] scaled= within(A[i,j], "
      "1) forall d { part.sum[j1,d] scaled= within(A[i,j], V[j,d]) } } } } } } }");
}

TEST(Rfactor, RefusesLeadsWithElements) {
  expect_refused(
      "nest { operand A: f32\n result y: f32\n workspace top: f32; workspace at: f32, with top\n"
      "where top, at { forall i { y[i] = at[i] } } producing { forall j { forall i { sequence { "
      "top[i] max= A[i,j]\n at[i] scaled= within(A[i,j], 1) } } } } }",
      "rfactor(j, part)", "depend on each of them");
}

TEST(Rfactor, RefusesIndicesOfTheResult) {
  expect_refused(kSpmm, "rfactor(i, part)", "'i' is not summed");
}

TEST(Rfactor, RefusesWhatIsNoSum) {
  expect_refused(kDense, "rfactor(j, part)", "is not a plain sum");
}

TEST(Rfactor, RefusesResultsOfTheirOwnPattern) {
  expect_refused(kSpgemm, "rfactor(j, part)", "stores only the coordinates of terms");
}

TEST(Rfactor, RefusesSumsInExpressions) {
  expect_refused(
      "nest { operand A: f32, i32, csr\n operand d: f32; result y: f32; workspace w: f32\n"
      "forall i { where w { y[i] = w / d[i] } producing { forall j { w += A[i,j] } } } }",
      "rfactor(j, part)", "a sum of nothing differs from 0");
}

TEST(Rfactor, RefusesFusedSumsInside) {
  expect_refused(
      "nest { operand X: f32; result y: f32\n"
      "forall i { forall j { forall k { y[k] += X[i,j,k] } } } }",
      "fuse(j, k, f); rfactor(i, part)", "put rfactor before fuse");
}

TEST(Rfactor, RefusesTaggedLoops) {
  expect_refused(kSpmm, "unroll(j, 2); rfactor(j, part)", "already has unroll");
}

TEST(Rfactor, RefusesSeveralLoops) {
  expect_refused(kSpmm, "precompute(acc, k); rfactor(k, part)", "2 loops over 'k'");
}

}  // namespace
}  // namespace tulle::schedule
