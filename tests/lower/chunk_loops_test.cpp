// Loops over a chunk's part of an operand: rows, dealt pieces, rows by work, pieces of a row. Also
// the kernels that finish rows shared by several chunks.
#include <gtest/gtest.h>

#include "lower/lowered_nest.h"

namespace tulle::lower {
namespace {

// A nest over csr rows with these declarations, loops and sums.
Example over_rows(const std::string& declarations, const std::string& loops,
                  const Options& options = many_chunks(Backend::Gpu)) {
  return {"nest {\n  operand A: f64, i32, csr\n  operand x: f64, dense\n  result y: f64, dense\n" +
              declarations + loops + "\n}",
          "y[i] = A[i,j] * x[j]",
          {{"A", {7, 12}}, {"x", {12}}},
          options,
          0.5};
}

TEST(RowsOfChunk, LongRowsAreShared) {
  const Example example =
      over_rows("var c = chunk A(i) / 5\nvar r = row A(i) / 5\n",
                "forall c block { forall r { forall j { y[i] += A[i,j] * x[j] } } }");
  expect_right(example, {"row-pieces-overlap", "shared-rows-stored"});
  expect_parts(LoweredNest(example.nest, example.options).text(),
               {"kernel compute_y", "block for c", "let work_begin", "let is_long", "atomic"});
}

TEST(ChunkCount, CountsAllVectorLoopsOfAnEntry) {
  const LoweredNest nest(R"(nest {
    operand A: f64, i32, csr
    operand X: f64, dense
    result y: f64, dense
    workspace top: f64, dense
    workspace weight: f64, with top, dense
    workspace sum: f64, with top, dense
    workspace score: f64, dense
    extent k = 32
    extent d = 64
    forall i parallel(nnz) {
      where top, weight, sum { forall d vector(4) { y[i,d] = sum[d] / weight } } producing {
        forall j { sequence {
          where score { top max= within(A[i,j], score) } producing {
            forall k vector(4) { score += X[i,k] * X[j,k] } }
          weight scaled= within(A[i,j], 1)
          forall d vector(4) { sum[d] scaled= within(A[i,j], X[j,d]) } } } } } })");
  expect_parts(nest.text(), {"y.chunks", "(i.extent + A.count) * 97"});
}

TEST(RowsOfChunk, SharedRowsAreCountedOnceWhereThereIsAFixedNumberOfChunks) {
  expect_right(over_rows("var c = chunk A(i) / 3 in 4\nvar r = row A(i) / 3 in 4\n",
                         "forall c block { forall r { forall j { y[i] += A[i,j] * x[j] } } }"));
}

Example dealt_sums(Backend backend) {
  return over_rows(
      "workspace acc: f64, dense\nvar c = chunk A(i) / 3 in 6 dealt 3\n"
      "var r = row A(i) / 3 in 6 dealt 3\n",
      "forall c parallel(rows) { forall r { where acc { y[i] = acc } producing { "
      "forall j { acc += A[i,j] * x[j] } } } }",
      many_chunks(backend));
}

TEST(DealtPieces, PartsHaveEqualWork) {
  const Example example = dealt_sums(Backend::Gpu);
  expect_right(example, {"last-piece-lost", "pieces-not-shared"});
  expect_parts(
      LoweredNest(example.nest, example.options).text(),
      {"keep", "launch count_A.pieces3x2", "scan A.pieces3x2.first", "launch fill_A.pieces3x2",
       "launch share_A.pieces3x2", "launch compute_y", "for piece in [first_1, last_1)"});
}

TEST(DealtPieces, AreMadeOnACpu) { expect_right(dealt_sums(Backend::Cpu), {"last-piece-lost"}); }

const std::string kSumOfRow =
    "{ where acc { y[i] = acc } producing { forall j { acc += A[i,j] * x[j] } } }";

TEST(RowsByWork, ChunksEndWithinRows) {
  for (const Backend backend : {Backend::Cpu, Backend::Gpu}) {
    const Example example =
        over_rows("workspace acc: f64, dense\n", "forall i parallel(merge) " + kSumOfRow,
                  many_chunks(backend));
    expect_right(example, {"work-begins-early"});
    expect_parts(LoweredNest(example.nest, example.options).text(),
                 {"kernel compute_y", "begins_here", "ends_here"});
  }
}

TEST(RowsByWork, CutsOtherOperandsAlong) {
  for (const Backend backend : {Backend::Cpu, Backend::Gpu}) {
    expect_right({R"(nest {
      operand A: f64, i32, csr
      operand B: f64, i32, csr
      result C: f64, i32, csr
      forall i parallel(merge) { forall j { C[i,j] = A[i,j] + B[i,j] } }
    })",
                  "C[i,j] = A[i,j] + B[i,j]",
                  {{"A", {6, 12}}, {"B", {6, 12}}},
                  many_chunks(backend)},
                 {"cut-along-begins-late", "cut-row-finished-twice"});
  }
}

TEST(ListedRowsByWork, RowsFollowFromEntries) {
  for (const Backend backend : {Backend::Cpu, Backend::Gpu}) {
    expect_right({R"(nest {
      operand A: f64, i32, coo
      result C: f64, i32, csr
      forall i parallel(merge) { forall j { C[i,j] = A[i,j] * 2 } }
    })",
                  "C[i,j] = A[i,j] * 2",
                  {{"A", {8, 9}}},
                  many_chunks(backend)},
                 {"listed-row-lost"});
  }
}

// The largest entry of each row and the weights of the others: a tuple.
Example tuples(const std::string& declarations, const std::string& rows, Backend backend) {
  return {
      "nest {\n  operand A: f64, i32, csr\n  result y: f64, dense\n  workspace top: f64, "
      "dense\n  workspace weight: f64, with top, dense\n" +
          declarations + rows + R"(
      where top, weight {
        y[i] = top + log(weight)
      } producing {
        forall j {
          sequence {
            top max= within(A[i,j], A[i,j])
            weight scaled= within(A[i,j], 1)
          }
        }
      }
    )" + std::string(rows.find("forall r") == std::string::npos ? "}" : "} }") +
          "\n}",
      "y[i] = logsumexp(j in A[i,j], A[i,j])",
      {{"A", {6, 14}}},
      many_chunks(backend),
      0.6};
}

TEST(UnfinishedRow, MergesPiecesOfTuples) {
  for (const Backend backend : {Backend::Cpu, Backend::Gpu}) {
    const Example example = tuples("", "forall i parallel(merge) {", backend);
    expect_right(example,
                 {"work-of-last-chunk-lost", "row-pieces-share-a-place", "lead-never-shrinks"});
    expect_parts(LoweredNest(example.nest, example.options).text(),
                 {"launch compute_y", "launch merge_y", "y.pieces.top[", "kernel merge_y"});
  }
}

TEST(SharedRowOfChunk, MergesPiecesOfTuples) {
  const Example example = tuples("var c = chunk A(i) / 4\nvar r = row A(i) / 4\n",
                                 "forall c block { forall r {", Backend::Gpu);
  expect_right(example, {"merged-rows-unfinished", "row-pieces-share-a-place"});
}

Example pieces(const std::string& loops, Backend backend = Backend::Cpu) {
  return over_rows("var jo = A(j) / 4\nvar ji = A(j) % 4\n", "forall i " + loops,
                   many_chunks(backend));
}

TEST(PiecesOfRow, HaveEquallyManyEntries) {
  const Example example = pieces("{ forall jo { forall ji { y[i] += A[i,j] * x[j] } } }");
  expect_right(example);
  expect_parts(LoweredNest(example.nest).text(),
               {"for jo in", "let first_1", "for A_p in [first_1, min("});
}

TEST(PiecesOfRow, AreVisitedAtOnePlaceOfAllPieces) {
  const Example example = pieces("{ forall ji { forall jo { y[i] += A[i,j] * x[j] } } }");
  expect_right(example);
  expect_parts(LoweredNest(example.nest).text(),
               {"for ji in [0, 4)", "for A_p in [first_1, p_end) by 4"});
}

TEST(PiecesOfRow, LanesHaveAnEntryEach) {
  const Example example{R"(nest {
    operand A: f64, i32, csr
    operand d: f64, dense
    result C: f64, i32, like A, csr
    var jo = A(j) / 4
    var ji = A(j) % 4
    forall i block { forall jo { forall ji lane { C[i,j] = A[i,j] * d[i] } } }
  })",
                        "C[i,j] = A[i,j] * d[i]",
                        {{"A", {7, 9}}, {"d", {7}}},
                        many_chunks(Backend::Gpu)};
  expect_right(example, {"piece-unguarded"});
  expect_parts(LoweredNest(example.nest, example.options).text(),
               {"block for i", "lane for ji in [0, 4)"});
}

TEST(NoPieces, RowsWithoutEntriesHaveNone) {
  expect_right({R"(nest {
    operand A: f64, i32, dcsr
    operand x: f64, dense
    result y: f64, dense
    var jo = A(j) / 4
    var ji = A(j) % 4
    forall i { forall jo { forall ji { y[i] += A[i,j] * x[j] } } }
  })",
                "y[i] = A[i,j] * x[j]",
                {{"A", {9, 6}}, {"x", {6}}},
                many_chunks(),
                0.2});
}

}  // namespace
}  // namespace tulle::lower
