// Precompute: workspaces for the sum.
#include "schedule/rewrites/precompute.h"

#include <gtest/gtest.h>

#include "schedule/nests.h"

namespace tulle::schedule {
namespace {

TEST(Precompute, GathersARow) {
  EXPECT_EQ(body_after(kSpmm, "precompute(acc, k)"),
            "forall i { where acc { forall k { C[i,k] = acc[k] } } producing { "
            "forall j { forall k { acc[k] += A[i,j] * B[j,k] } } } }");
}

TEST(Precompute, GathersAScalar) {
  EXPECT_EQ(body_after(kSddmm, "precompute(acc)"),
            "forall i { forall j { where acc { S[i,j] = acc } producing { "
            "forall d { acc += A[i,j] * Q[i,d] * K[j,d] } } } }");
}

TEST(Precompute, GathersSeveralIndices) {
  EXPECT_EQ(body_after(kSpmm, "reorder(j, i, k); precompute(acc, (k, i))"),
            "where acc { forall k { forall i { C[i,k] = acc[k,i] } } } producing { "
            "forall j { forall i { forall k { acc[k,i] += A[i,j] * B[j,k] } } } }");
}

TEST(Precompute, GathersABlock) {
  EXPECT_EQ(
      body_after(kSpmm,
                 "split(k, 32, k0, k1); reorder(i, k0, j, k1); unroll(k1, 4); precompute(acc, k1)"),
      "forall i { forall k0 { where acc { forall k1 unrolled(4) { C[i,k] = acc[k1] } } producing { "
      "forall j { forall k1 unrolled(4) { acc[k1] += A[i,j] * B[j,k] } } } } }");
}

TEST(Precompute, TracksSparseResults) {
  EXPECT_EQ(body_after(kSpgemm, "precompute(acc, k, tracked); parallel(i, by=nnz)"),
            "forall i parallel(nnz) { where acc { forall k { C[i,k] = acc[k] } } producing { "
            "forall j { forall k { acc[k] += A[i,j] * B[j,k] } } } }");
  const nest::Nest nest =
      apply(parse_schedule("precompute(acc, k, tracked)"), nest::parse_nest(kSpgemm));
  EXPECT_EQ(nest.tensor("acc").tracking, nest::Tensor::Tracking::Tracked);
  EXPECT_EQ(nest.tensor("acc").type.index_type, DType::Int32);
}

TEST(Precompute, ScansSparseResults) {
  EXPECT_EQ(body_after(kSpgemm, "precompute(acc, k, scanned)"),
            body_after(kSpgemm, "precompute(acc, k, tracked)"));
  const nest::Nest nest =
      apply(parse_schedule("precompute(acc, k, scanned)"), nest::parse_nest(kSpgemm));
  EXPECT_EQ(nest.tensor("acc").tracking, nest::Tensor::Tracking::Scanned);
  EXPECT_EQ(nest::parse_nest(nest::to_string(nest)).tensor("acc").tracking,
            nest::Tensor::Tracking::Scanned);
}

TEST(Precompute, AddsToWhatIsThere) {
  EXPECT_EQ(body_after("nest { operand A: f32, i32, csr\n operand b: f32; result y: f32\n"
                       "forall i { sequence { y[i] = b[i]; forall j { y[i] += A[i,j] } } } }",
                       "precompute(t, ())"),
            "forall i { sequence { y[i] = b[i] where t { y[i] += t } producing { forall j { t += "
            "A[i,j] } } } }");
}

TEST(Precompute, SumsHalfPrecisionInSingle) {
  const nest::Nest nest =
      apply(parse_schedule("precompute(t)"),
            nest::parse_nest("nest { operand A: f16; result y: f16\n forall j { y += A[j] } }"));
  EXPECT_EQ(nest.tensor("t").type.type, DType::Float32);
}

TEST(Precompute, RefusesTakenNames) {
  expect_refused(kSpmm, "precompute(B, k)", "'B' is already a tensor");
}

TEST(Precompute, RefusesNestsWithoutSums) {
  expect_refused(kDense, "precompute(acc)", "Nothing is summed");
}

TEST(Precompute, RefusesASecondTime) {
  expect_refused(kSpmm, "precompute(acc, k); precompute(acc2, k)",
                 "Nothing is summed into the result here");
}

TEST(Precompute, RefusesAccumulationWithoutALoop) {
  expect_refused("nest { operand x: f32; result y: f32\n forall i { y[i] += x[i] } }",
                 "precompute(t)", "No loop around 'y' is summed over");
}

TEST(Precompute, RefusesTwoAccumulations) {
  expect_refused(
      "nest { operand A: f32; operand x: f32; result y: f32\n forall i { sequence {\n"
      "forall j { y[i] += A[i,j] }; forall k { y[i] += A[i,k] * x[k] } } } }",
      "precompute(t)", "accumulated in 2 places");
}

TEST(Precompute, RefusesMissingVariables) {
  expect_refused(kSpmm, "precompute(acc)", "the result's loops are (k)");
}

TEST(Precompute, RefusesOtherVariables) {
  expect_refused(kSpmm, "precompute(acc, i)", "the result's loops are (k)");
}

// The step that the message suggests is legal.
TEST(Precompute, SaysWhetherToTrack) {
  expect_refused(kSpgemm, "precompute(acc, k)", "track that, precompute(acc, k, tracked).");
  expect_refused(kSpgemm, "reorder(i, k, j); precompute(acc)", "leave precompute out");
  body_after(kSpgemm, "precompute(acc, k, tracked)");
  body_after(kSpgemm, "reorder(i, k, j)");
}

TEST(Precompute, IsAdvisedForSparseResults) {
  expect_refused(kSpgemm, "unroll(j, 2)",
                 "add precompute(acc, k, tracked) or reorder(i, k, j), or ask for");
  expect_refused(kSpgemm, "split(k, 4, acc, k1)", "add reorder(i, acc, k1, j), or ask for");
}

TEST(Precompute, RefusesFusedSums) {
  expect_refused(
      "nest { operand A: f32; result y: f32\n forall i { forall j { y[i] += A[i,j] } } }",
      "fuse(i, j, f); precompute(t)", "put precompute before fuse");
}

TEST(Precompute, RefusesPlainWorkspacesForSparseResults) {
  expect_refused(kSpgemm, "precompute(acc, k)", "stores only the coordinates of terms");
}

TEST(Precompute, RefusesScalarsForSparseResults) {
  expect_refused(kSpgemm, "reorder(i, k, j); precompute(acc)",
                 "stores only the coordinates of terms");
}

TEST(Precompute, RefusesEntriesThatNoLoopFinds) {
  expect_refused(kSddmm, "reorder(j, d, i); precompute(acc, i)",
                 "move 'i' outside the sum, or leave precompute out");
  expect_refused(kSddmm, "reorder(j, d, i); rfactor(d, acc)",
                 "move 'i' outside 'd', or leave rfactor out");
  body_after(kSddmm, "reorder(j, i, d); rfactor(d, acc)");
}

TEST(Precompute, RefusesTrackingDenseResults) {
  expect_refused(kSpmm, "precompute(acc, k, tracked)", "leave 'tracked' out");
  expect_refused(kSpmm, "precompute(acc, k, scanned)", "leave 'scanned' out");
}

TEST(Precompute, RefusesTrackingSeveralVariables) {
  expect_refused(kSpgemm, "reorder(j, i, k); precompute(acc, (i, k), tracked)",
                 "'C' stores every coordinate of 'i'");
  expect_refused(kSpgemm, "reorder(j, i, k); precompute(acc, (k, i), tracked)",
                 "blocks that 'C' stores for each of its coordinates, which 'i' does not");
}

TEST(Precompute, TracksBlocks) {
  constexpr const char* blocks = R"(
nest {
  operand A: f32, i32, bsr(4,2)
  operand B: f32, i32, bsr(2,8)
  result C: f32, i32, bsr(4,8)
  var io = i / 4
  var ir = i % 4
  var jo = j / 2
  var jr = j % 2
  var ko = k / 8
  var kr = k % 8
  forall io { forall jo { forall ko { forall ir { forall jr { forall kr {
    C[i,k] += A[i,j] * B[j,k]
  } } } } } }
}
)";
  const std::string body = body_after(blocks, "precompute(acc, (ko, ir, kr), tracked)");
  EXPECT_NE(body.find("C[i,k] = acc[ko,ir,kr]"), std::string::npos) << body;
  EXPECT_NE(body.find("acc[ko,ir,kr] += A[i,j] * B[j,k]"), std::string::npos) << body;
  expect_refused(blocks, "precompute(acc, (ir, ko, kr), tracked)",
                 "stores every coordinate of 'ir'");
  expect_refused(blocks, "precompute(acc, ko, tracked)", "give exactly those");
}

TEST(Precompute, RefusesTrackingBlocks) {
  expect_refused(kSpgemm,
                 "split(k, 8, k0, k1); reorder(i, k0, j, k1); precompute(acc, k1, tracked)",
                 "'k1' is derived");
}

}  // namespace
}  // namespace tulle::schedule
