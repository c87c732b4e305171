// Copies of operands in registers and in shared memory.
#include <gtest/gtest.h>

#include "schedule/nests.h"

namespace tulle::schedule {
namespace {

constexpr std::string_view kTiles = R"(nest {
  operand X: f32
  operand Y: f32
  result Z: f32
  extent k = 32
  forall i { forall j { forall k { Z[i,k] += X[i,j] * Y[j,k] } } }
})";

constexpr std::string_view kRows = R"(nest {
  operand A: f32, i32, csr
  operand Q: f32
  operand K: f32
  result S: f32, i32, like A, csr
  extent d = 16
  forall i { forall j { forall d { S[i,j] += A[i,j] * Q[i,d] * K[j,d] } } }
})";

TEST(Stage, CopiesWhatALoopReads) {
  EXPECT_EQ(body_after(kRows, "stage(Q, i, registers)"),
            "forall i { where Q.staged { forall j { forall d { "
            "S[i,j] += A[i,j] * Q.staged[d] * K[j,d] } } } producing { forall d { "
            "Q.staged[d] = Q[i,d] } } }");
}

TEST(Stage, CopiesOneElement) {
  EXPECT_EQ(body_after(kTiles, "reorder(i, k, j); stage(X, j, registers, 2)"),
            "forall i { forall k { forall j { where X.staged { Z[i,k] += X.staged * Y[j,k] } "
            "producing { X.staged = X[i,j] } } } }");
}

TEST(Stage, KeepsTheTagsOfLoops) {
  EXPECT_EQ(body_after(kRows,
                       "split(d, 4, d0, d1); precompute(acc); vectorize(d1, 4); "
                       "stage(Q, i, registers)"),
            "forall i { where Q.staged { forall j { where acc { S[i,j] = acc } producing { "
            "forall d0 { forall d1 vector(4) { acc += A[i,j] * Q.staged[d0,d1] * K[j,d] } } } } } "
            "producing { forall d0 { forall d1 vector(4) { Q.staged[d0,d1] = Q[i,d] } } } }");
}

constexpr std::string_view kBound =
    "split(i, 4, ib, iw); split(j, 8, j0, j1); reorder(ib, j0, iw, k, j1); bind(ib, block); "
    "bind(iw, warp); ";

std::string bound(std::string_view rest) { return std::string(kBound) + std::string(rest); }

TEST(Stage, CopiesTilesInTheOrderOfStorage) {
  EXPECT_EQ(body_after(kTiles, bound("stage(Y, j0, shared, 2); bind(k, lane)")),
            "forall ib block { forall j0 { where Y.staged { forall iw warp { forall k lane { "
            "forall j1 { Z[i,k] += X[i,j] * Y.staged[j1,k] } } } } producing { forall j1 { "
            "forall k { Y.staged[j1,k] = Y[j,k] } } } } }");
}

TEST(Stage, CopiesCopies) {
  EXPECT_EQ(body_after(kTiles, bound("stage(Y, j0, shared); stage(Y, k, registers)")),
            "forall ib block { forall j0 { where Y.staged { forall iw warp { forall k { "
            "where Y.staged1 { forall j1 { Z[i,k] += X[i,j] * Y.staged1[j1] } } producing { "
            "forall j1 { Y.staged1[j1] = Y.staged[j1,k] } } } } } producing { forall j1 { "
            "forall k { Y.staged[j1,k] = Y[j,k] } } } } }");
}

TEST(Stage, FillsSharedMemoryFromRegistersThatEveryThreadHas) {
  EXPECT_EQ(
      body_after(kTiles, bound("bind(k, lane); stage(Y, j0, shared); stage(Y, j0, registers)")),
      "forall ib block { forall j0 { where Y.staged1 { where Y.staged { forall iw warp { "
      "forall k lane { forall j1 { Z[i,k] += X[i,j] * Y.staged[j1,k] } } } } producing { "
      "forall j1 { forall k { Y.staged[j1,k] = Y.staged1[j1,k] } } } } producing { forall j1 { "
      "forall k { Y.staged1[j1,k] = Y[j,k] } } } } }");
  expect_refused(kTiles, bound("stage(Y, j0, shared); stage(Y, j0, registers); bind(k, lane)"),
                 "'Y.staged1' is filled by a loop over 'k' that is bound to a lane");
}

constexpr std::string_view kTwoReads =
    "nest { operand A: f32, i32, csr\n operand X: f32\n "
    "result S: f32, i32, like A, csr\n extent d = 16\n"
    "forall i { forall j { forall d { S[i,j] += A[i,j] * X[i,d] * X[j,d] } } } }";

TEST(Stage, CopiesOneOfTwoReads) {
  EXPECT_EQ(body_after(kTwoReads, "stage(X, i, registers)"),
            "forall i { where X.staged { forall j { forall d { "
            "S[i,j] += A[i,j] * X.staged[d] * X[j,d] } } } producing { forall d { "
            "X.staged[d] = X[i,d] } } }");
}

TEST(Stage, RemarksOnReadsThatAreNotCopied) {
  EXPECT_TRUE(remarks_of(kRows, "stage(Q, i, registers)").empty());
  const Remarks remarks = remarks_of(kTwoReads, "stage(X, i, registers)");
  ASSERT_EQ(remarks.size(), 1U);
  EXPECT_NE(remarks[0].find("X[j,d] is read without a copy in the loop over 'i': the copy is as "
                            "long as 'j'"),
            std::string::npos)
      << remarks[0];
}

TEST(Stage, RefusesSparseOperands) {
  expect_refused(kRows, "stage(A, i, registers)", "'A' (csr) holds only some coordinates");
}

TEST(Stage, RefusesLoopsThatDoNotRead) {
  expect_refused(
      "nest { operand A: f32, i32, csr\n operand b: f32; result y: f32\n"
      "sequence { forall i { y[i] = b[i] }; forall i { forall j { y[i] += A[i,j] } } } }",
      "stage(b, j, registers)", "'b' is not read in the loop over 'j'");
}

TEST(Stage, RefusesUnknownExtents) {
  expect_refused(kTiles, "stage(Y, i, registers)", "the copy is as long as 'j'");
}

constexpr std::string_view kDiagonals = R"(nest {
  operand A: f32, i32, dia
  operand B: f32
  operand X: f32
  result C: f32
  extent i = 8
  extent j = 8
  var d = j - i
  forall k { forall i { forall d { C[k,i] += A[i,j] * B[k,i] * X[k,j] } } }
})";

TEST(Stage, CopiesRowsThatDiagonalsMeet) {
  EXPECT_EQ(body_after(kDiagonals, "stage(B, k, registers)"),
            "forall k { where B.staged { forall i { forall d { "
            "C[k,i] += A[i,j] * B.staged[i] * X[k,j] } } } producing { forall i { "
            "B.staged[i] = B[k,i] } } }");
  expect_refused(kDiagonals, "stage(X, k, registers)", "'d' visits entries, chunks or diagonals");
}

TEST(Stage, RefusesWhatALoopInsideSaysOfADiagonal) {
  const std::string cut = "reorder(k, d, i); split(i, 4, i0, i1); ";
  expect_refused(kDiagonals, cut + "stage(X, i0, registers)",
                 "'j' follows from a diagonal and from a loop inside");
  body_after(kDiagonals, cut + "stage(X, i1, registers)");
}

TEST(Stage, RefusesEntriesByNumber) {
  expect_refused(kRows, "split_positions(j, 4, j0, j1); stage(K, j0, registers)",
                 "'j1' visits entries");
}

TEST(Stage, RefusesFusedLoops) {
  expect_refused(
      "nest { operand Y: f32\n result Z: f32\n extent j = 4\n extent k = 4\n "
      "forall i { forall j { forall k { Z[i,j] += Y[i,k] } } } }",
      "fuse(j, k, f); stage(Y, i, registers)", "'f' is fused from an index of 'Y'");
}

TEST(Stage, RefusesVectors) {
  expect_refused(kRows, "precompute(acc); vectorize(d, 4); stage(Q, d, registers)",
                 "runs in the lanes of a vector");
}

TEST(Stage, RefusesLargeCopies) {
  expect_refused(kTiles, "split(j, 128, j0, j1); stage(Y, j0, registers)",
                 "more than 2048 elements");
  expect_refused(kTiles, bound("stage(Y, ib, registers)"), "the copy is as long as 'j0'");
  expect_refused(kTiles,
                 "split(i, 4, ib, iw); split(j, 16, j0, j1); reorder(ib, j0, iw, k, j1); "
                 "bind(ib, block); bind(iw, warp); stage(Y, j0, registers)",
                 "has 512 elements");
  expect_refused(kTiles,
                 "split(i, 4, ib, iw); split(j, 1024, j0, j1); reorder(ib, j0, iw, k, j1); "
                 "bind(ib, block); bind(iw, warp); stage(Y, j0, shared)",
                 "131072 bytes of each block's shared memory");
}

TEST(Stage, RefusesManyCopies) {
  expect_refused(kRows, "stage(Q, i, registers, 9)", "1 to 8 copies");
  expect_refused(kRows, "stage(Q, i, registers, 0)", "1 to 8 copies");
}

TEST(Stage, RefusesDepthWhereIterationsRunAtOnce) {
  expect_refused(kRows, "bind(i, block); stage(Q, i, registers, 2)", "none has a next one");
}

TEST(Stage, RefusesSharedMemoryOfACpu) {
  expect_refused(kRows, "stage(Q, i, shared)", "no loop is bound to blocks");
}

TEST(Stage, RefusesToShareCopiesInRegisters) {
  expect_refused(kTiles, bound("stage(Y, j0, registers); stage(Y, iw, shared)"),
                 "a copy of it in registers is read, 'Y.staged'");
}

TEST(Stage, RefusesSharedMemoryOfOneThread) {
  expect_refused(kTiles, bound("bind(k, lane); stage(Y, k, shared)"), "each lane runs separately");
  expect_refused(kTiles,
                 "split(i, 4, ib, it); split(j, 8, j0, j1); reorder(ib, it, j0, k, j1); "
                 "bind(ib, block); stage(Y, j0, shared); bind(it, thread)",
                 "each thread runs separately");
}

TEST(Stage, RefusesLanesThatChangePlaces) {
  expect_refused(kRows,
                 "split_positions(j, 4, j0, jl); split(i, 4, ib, iw); "
                 "reorder(ib, iw, jl, j0, d); precompute(acc); split(d, 4, d0, dl); "
                 "reorder(dl, d0); rfactor(dl, part); bind(ib, block); bind(iw, warp); "
                 "bind(jl, lane); bind(dl, lane); stage(Q, iw, registers)",
                 "lanes would change iterations");
}

}  // namespace
}  // namespace tulle::schedule
