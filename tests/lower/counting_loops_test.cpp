// Loops over every coordinate: plain loops, loops that walk along operands, loops that threads and
// members of a chunk share.
#include <gtest/gtest.h>

#include "lower/lowered_nest.h"

namespace tulle::lower {
namespace {

// C[i,k] = sum(j, A[i,j] * B[j,k]), rows of A in chunks.
const Example kProduct{R"(nest {
  operand A: f64, i32, csr
  operand B: f64, dense
  result C: f64, dense
  extent k = 6
  forall i parallel(nnz) {
    forall j {
      forall k vector(4) {
        C[i,k] += A[i,j] * B[j,k]
      }
    }
  }
})",
                       "C[i,k] = A[i,j] * B[j,k]",
                       {{"A", {11, 9}}, {"B", {9, 6}}}};

TEST(DenseLoop, ChunksHaveEqualWork) {
  expect_right(kProduct, {"chunk-skips-row", "result-not-zeroed"});
  expect_parts(LoweredNest(kProduct.nest).text(),
               {"let C.chunks", "let target", "for i in [first, last)", "vector(4) for k"});
}

TEST(DenseLoop, ChunksOfAGpuAreFoundInOneSearch) {
  Example example = kProduct;
  example.options = many_chunks(Backend::Gpu);
  expect_right(example, {"chunk-skips-row"});
  expect_parts(LoweredNest(example.nest, example.options).text(),
               {"compute_C.share", "block for", "thread for", "for end in [chunk, chunk + 2)"});
}

TEST(DenseLoop, EndsWhereTheOtherHalfOfASplitSays) {
  expect_right({R"(nest {
    operand x: f64, dense
    result y: f64, dense
    var io = i / 4
    var ii = i % 4
    forall io { forall ii { y[i] = x[i] * 2 } }
  })",
                "y[i] = x[i] * 2",
                {{"x", {10}}}},
               {"split-unbounded"});
}

TEST(DenseLoop, VisitsPairsOfFusedCoordinates) {
  expect_right({R"(nest {
    operand X: f64, dense
    result Y: f64, dense
    var f = (i, j)
    forall f parallel(rows) { Y[i,j] = X[i,j] + 1 }
  })",
                "Y[i,j] = X[i,j] + 1",
                {{"X", {7, 3}}}},
               {"fuse-wrong-extent"});
}

TEST(DenseLoop, WalksAlongWhatIsStored) {
  const Example example{R"(nest {
    operand A: f64, i32, (i) -> (i: compressed)
    operand B: f64, i32, (i) -> (i: compressed)
    operand x: f64, dense
    result y: f64, dense
    forall i parallel(rows) { y[i] = A[i] * B[i] + x[i] }
  })",
                        "y[i] = A[i] * B[i] + x[i]",
                        {{"A", {20}}, {"B", {20}}, {"x", {20}}}};
  expect_right(example, {"lattice-inverts", "search-goes-past"});
  expect_parts(LoweredNest(example.nest).text(), {"for i in", "here", "A_at = "});
}

TEST(DenseLoop, WalksOverRunsOfEqualCoordinates) {
  expect_right({R"(nest {
    operand A: f64, i32, coo
    operand x: f64, dense
    result y: f64, dense
    forall i { forall j { y[i] += A[i,j] + x[j] } }
  })",
                "y[i] = A[i,j] + x[j]",
                {{"A", {7, 5}}, {"x", {5}}}},
               {"segment-ends-early"});
}

TEST(BoundLoop, ThreadsOfABlockHaveACoordinateEach) {
  const Example example{R"(nest {
    operand x: f64, dense
    result y: f64, dense
    var ib = i / 4
    var it = i % 4
    forall ib block { forall it thread { y[i] = x[i] + 1 } }
  })",
                        "y[i] = x[i] + 1",
                        {{"x", {10}}},
                        many_chunks(Backend::Gpu)};
  expect_right(example, {"bind-unguarded"});
  expect_parts(LoweredNest(example.nest, example.options).text(),
               {"block for ib", "thread for it in [0, 4)", "if ("});
}

TEST(BoundLoop, LanesStandInAWarp) {
  const Example example{R"(nest {
    operand X: f64, dense
    result Y: f64, dense
    extent j = 5
    forall i block { forall j lane { Y[i,j] = X[i,j] * 3 } }
  })",
                        "Y[i,j] = X[i,j] * 3",
                        {{"X", {4, 5}}},
                        many_chunks(Backend::Gpu)};
  expect_right(example);
  expect_parts(LoweredNest(example.nest, example.options).text(),
               {"block for i", "warp for warp in [0, 1)", "lane for j in [0, 5)"});
}

TEST(MemberLoop, MembersOfAChunkHaveACoordinateEach) {
  const Example example{R"(nest {
    operand A: f64, i32, csr
    operand B: f64, dense
    result C: f64, i32, (i,j,k) -> (i: dense, j: compressed, k: dense)
    extent k = 7
    forall i parallel(rows) { forall j { forall k member { C[i,j,k] = A[i,j] * B[j,k] } } }
  })",
                        "C[i,j,k] = A[i,j] * B[j,k]",
                        {{"A", {5, 4}}, {"B", {4, 7}}},
                        many_chunks(Backend::Gpu)};
  expect_right(example, {"members-by-chunk", "members-overlap"});
  expect_parts(LoweredNest(example.nest, example.options).text(), {"let member", "let k"});
}

TEST(NoLoop, RowsWithoutEntriesStartAtZero) {
  expect_right({R"(nest {
    operand A: f64, i32, (i) -> (i: compressed)
    operand X: f64, dense
    result Y: f64, dense
    forall i { forall j { Y[i,j] = A[i] * X[i,j] } }
  })",
                "Y[i,j] = A[i] * X[i,j]",
                {{"A", {9}}, {"X", {9, 4}}}},
               {"result-not-zeroed"});
}

}  // namespace
}  // namespace tulle::lower
