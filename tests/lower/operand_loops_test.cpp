// Loops over the entries of one operand, and merges of several.
#include <gtest/gtest.h>

#include "lower/lowered_nest.h"

namespace tulle::lower {
namespace {

Example row_sums(const std::string& format, const std::string& tag = "") {
  return {"nest {\n  operand A: f64, i32, " + format +
              "\n  operand x: f64, dense\n  result y: f64, dense\n  forall i " + tag +
              " { forall j { y[i] += A[i,j] * x[j] } }\n}",
          "y[i] = A[i,j] * x[j]",
          {{"A", {8, 7}}, {"x", {7}}}};
}

TEST(EntryLoop, VisitsTheEntriesOfARow) {
  expect_right(row_sums("csr"));
  expect_parts(LoweredNest(row_sums("csr").nest).text(),
               {"for i in", "for A_p1 in [p, p_end)", "A.crd1[A_p1]"});
}

TEST(EntryLoop, LeavesSlotsWithoutEntriesOut) {
  expect_right(row_sums("(i,j) -> (i: dense, j: bitmap)"));
  expect_right(row_sums("ell(7)"), {"padding-is-entry"});
}

TEST(EntryLoop, IsCutIntoChunks) {
  const Example example = row_sums("dcsr", "parallel(rows)");
  expect_right(example);
  expect_parts(LoweredNest(example.nest).text(),
               {"let y.chunks", "var first", "for A_p0 in [first"});
}

TEST(EntryLoop, PrefetchesRowsThatComingEntriesGather) {
  const Example example{R"(nest {
    operand A: f64, i32, csr
    operand B: f64, dense
    result C: f64, dense
    extent k = 16
    prefetch B 3
    forall i { forall j { forall k { C[i,k] += A[i,j] * B[j,k] } } }
  })",
                        "C[i,k] = A[i,j] * B[j,k]",
                        {{"A", {6, 5}}, {"B", {5, 16}}}};
  expect_right(example);
  expect_parts(LoweredNest(example.nest).text(), {"for A_p1", "let ahead", "prefetch(B["});
}

TEST(RunLoop, TakesEqualCoordinatesTogether) {
  expect_right(row_sums("coo"));
  expect_parts(LoweredNest(row_sums("coo").nest).text(),
               {"while (A_p0 < last)", "let segment_end", "A_p0 = segment_end"});
}

TEST(RunLoop, ChunksBeginWhereRunsDo) {
  Example example = row_sums("coo", "parallel(rows)");
  expect_right(example, {"chunk-cuts-run"});
  example.options = many_chunks(Backend::Gpu);
  expect_right(example, {"chunk-cuts-run"});
}

TEST(CountedEntries, AreSubtracted) {
  const Example example{R"(nest {
    operand A: f64, i32, csr
    result C: f64, i32, csr
    forall i { forall j { C[i,j] = A[i,j] * 2 } }
  })",
                        "C[i,j] = A[i,j] * 2",
                        {{"A", {8, 7}}}};
  expect_right(example);
  expect_parts(LoweredNest(example.nest).text(),
               {"kernel count_C", "C_next0 = C_next0 + (p_end - p)", "kernel fill_C"});
}

TEST(EntriesOfChunk, AreOfWhateverRows) {
  const auto example = [](const std::string& format, const std::string& tag) -> Example {
    return {"nest {\n  operand A: f64, i32, " + format +
                "\n  operand x: f64, dense\n  result C: f64, i32, like A, " + format +
                "\n  var c = chunk A(i, j) / 4\n  var e = entry A(i, j) / 4\n"
                "  forall c block { forall e " +
                tag + " { C[i,j] = A[i,j] * x[j] } }\n}",
            "C[i,j] = A[i,j] * x[j]",
            {{"A", {8, 7}}, {"x", {7}}},
            many_chunks(Backend::Gpu)};
  };
  expect_right(example("csr", ""));
  expect_right(example("csr", "unrolled"));
  expect_right(example("coo", "unrolled"));
  const LoweredNest nest(example("csr", "").nest, many_chunks(Backend::Gpu));
  expect_parts(nest.text(), {"keep", "A.entry_rows", "block for c", "let i"});
}

Example merged(const std::string& value, const std::string& result,
               const Options& options = many_chunks()) {
  return {
      "nest {\n  operand A: f64, i32, csr\n  operand B: f64, i32, csr\n  operand D: f64, i32, "
      "csr\n  result C: f64, i32, " +
          result + "\n  forall i { forall j { C[i,j] = " + value + " } }\n}",
      "C[i,j] = " + value,
      {{"A", {8, 9}}, {"B", {8, 9}}, {"D", {8, 9}}},
      options};
}

TEST(MergeLoop, TakesAPointAfterTheOther) {
  expect_right(merged("A[i,j] * B[i,j] + D[i,j]", "csr"), {"lattice-drops-point"});
  expect_right(merged("(A[i,j] + B[i,j]) * D[i,j]", "csr"));
  expect_right(merged("A[i,j] * B[i,j] * D[i,j]", "csr"));
}

TEST(MergeLoop, AddsZerosWhereAnOperandHasNoEntry) {
  const Example example = merged("A[i,j] + B[i,j] - D[i,j]", "csr");
  expect_right(example, {"lattice-drops-point"});
  expect_parts(LoweredNest(example.nest).text(), {"kernel fill_C", "select("});
}

TEST(MergeLoop, CountsWithoutABody) {
  const std::string text = LoweredNest(merged("A[i,j] + B[i,j] - D[i,j]", "csr").nest).text();
  const std::string counting = text.substr(
      text.find("kernel count_C"), text.find("kernel fill_C") - text.find("kernel count_C"));
  expect_parts(counting, {"while (", "C_next0 = C_next0 + select("});
  EXPECT_EQ(counting.find("touched"), std::string::npos) << counting;
}

TEST(MergeLoop, IsOneLoopOnAGpu) {
  const Example example{R"(nest {
    operand A: f64, i32, csr
    operand B: f64, i32, csr
    operand x: f64, dense
    result C: f64, dense
    extent k = 3
    forall i parallel(rows) {
      forall j { forall k { C[i,k] += (A[i,j] + B[i,j]) * x[k] } }
    }
  })",
                        "C[i,k] = (A[i,j] + B[i,j]) * x[k]",
                        {{"A", {8, 9}}, {"B", {8, 9}}, {"x", {3}}},
                        many_chunks(Backend::Gpu)};
  expect_right(example, {"merge-ends-early"});
  const std::string text = LoweredNest(example.nest, example.options).text();
  EXPECT_EQ(text.find("while (", text.find("while (") + 1), std::string::npos) << text;
}

TEST(MergeLoop, WalksOverRunsOfEqualCoordinates) {
  expect_right({R"(nest {
    operand A: f64, i32, coo
    operand B: f64, i32, coo
    result C: f64, dense
    forall i { forall j { C[i,j] = A[i,j] + B[i,j] } }
  })",
                "C[i,j] = A[i,j] + B[i,j]",
                {{"A", {8, 5}}, {"B", {8, 5}}}},
               {"segment-ends-early", "lattice-drops-point"});
}

TEST(LookUp, FindsCoordinatesThatAnotherLoopHasBound) {
  expect_right({R"(nest {
    operand A: f64, i32, csr
    result d: f64, dense
    forall i { d[i] = A[i,i] }
  })",
                "d[i] = A[i,i]",
                {{"A", {9, 9}}}},
               {"search-goes-past", "result-not-zeroed"});
}

TEST(StoredRows, AreVisitedByNumber) {
  expect_right({R"(nest {
    operand A: f64, i32, dcsr
    operand x: f64, dense
    result y: f64, dense
    var s = stored A(i)
    forall s parallel(rows) { forall j { y[i] += A[i,j] * x[j] } }
  })",
                "y[i] = A[i,j] * x[j]",
                {{"A", {12, 5}}, {"x", {5}}},
                many_chunks(),
                0.15},
               {"stored-row-unmapped"});
}

}  // namespace
}  // namespace tulle::lower
