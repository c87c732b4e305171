// Workspaces: scalars, arrays, and tracked ones.
#include <gtest/gtest.h>

#include "lower/lowered_nest.h"

namespace tulle::lower {
namespace {

TEST(Workspaces, ArraysStartAtTheIdentity) {
  const Example example{R"(nest {
    operand A: f64, i32, csr
    operand B: f64, dense
    result C: f64, dense
    workspace acc: f64, dense
    extent k = 5
    forall i parallel(nnz) {
      where acc { forall k { C[i,k] = acc[k] } }
      producing { forall j { forall k { acc[k] += A[i,j] * B[j,k] } } }
    }
  })",
                        "C[i,k] = A[i,j] * B[j,k]",
                        {{"A", {8, 6}}, {"B", {6, 5}}}};
  expect_right(example, {"workspace-wrong-zero"});
  expect_parts(LoweredNest(example.nest).text(), {"acc = alloc local f64[5]", "acc[k] = 0.0"});
}

TEST(Workspaces, ArraysOfUnknownLengthAreAWorkersOwn) {
  for (const Backend backend : {Backend::Cpu, Backend::Gpu}) {
    const Example example{R"(nest {
      operand A: f64, i32, csr
      operand B: f64, dense
      result C: f64, dense
      workspace acc: f64, dense
      forall i parallel(rows) {
        where acc { forall k { C[i,k] = acc[k] } }
        producing { forall j { forall k { acc[k] += A[i,j] * B[j,k] } } }
      }
    })",
                          "C[i,k] = A[i,j] * B[j,k]",
                          {{"A", {40, 6}}, {"B", {6, 5}}},
                          many_chunks(backend)};
    expect_right(example, backend == Backend::Gpu ? std::vector<std::string>{"slices-overlap"}
                                                  : std::vector<std::string>{});
  }
}

TEST(Workspaces, MaximaStartBelowAllValues) {
  expect_right({R"(nest {
    operand A: f64, i32, csr
    result y: f64, dense
    workspace top: f64, dense
    forall i {
      where top { y[i] = top } producing { forall j { top max= within(A[i,j], A[i,j] - 20) } }
    }
  })",
                "y[i] = max(j in A[i,j], A[i,j] - 20)",
                {{"A", {8, 6}}}},
               {"monoid-starts-at-zero"});
}

// Products of sparse matrices, row by row.
Example gustavson(const std::string& tracking, Backend backend) {
  return {
      "nest {\n  operand A: f64, i32, csr\n  operand B: f64, i32, csr\n  result C: f64, i32, "
      "csr\n  workspace row: f64, " +
          tracking + R"(, dense
    forall i parallel(rows) {
      where row { forall j { C[i,j] = row[j] } }
      producing { forall k { forall j { row[j] += A[i,k] * B[k,j] } } }
    }
  })",
      "C[i,j] = A[i,k] * B[k,j]",
      {{"A", {9, 6}}, {"B", {6, 11}}},
      many_chunks(backend)};
}

TEST(TrackedWorkspaces, ListWhatWasWritten) {
  for (const Backend backend : {Backend::Cpu, Backend::Gpu}) {
    const Example example = gustavson("tracked", backend);
    expect_right(example, {"tracked-keeps-round", "tracked-unsorted"});
    const std::string text = LoweredNest(example.nest, example.options).text();
    const std::string counting = text.substr(text.find("kernel count_C"));
    expect_parts(text, {"row_stamps", "sort"});
    // Counting needs no values.
    EXPECT_EQ(counting.substr(0, counting.find("kernel fill_C")).find("row_values"),
              std::string::npos);
  }
}

TEST(TrackedWorkspaces, AreScannedForWhatWasWritten) {
  for (const Backend backend : {Backend::Cpu, Backend::Gpu}) {
    const Example example = gustavson("scanned", backend);
    expect_right(example, {"tracked-keeps-round", "scan-ends-early"});
    expect_parts(LoweredNest(example.nest, example.options).text(),
                 {"for scanned in [0, j.extent)"});
  }
}

TEST(TrackedWorkspaces, SlicesOfThreadsLieApart) {
  Example example = gustavson("tracked", Backend::Gpu);
  example.sizes = {{"A", {40, 6}}, {"B", {6, 11}}};
  expect_right(example, {"slices-overlap"});
}

TEST(TrackedWorkspaces, BlocksStartWhereTheyAreNew) {
  const Example example{R"(nest {
    operand A: f64, i32, csr
    operand B: f64, i32, (k,j,l) -> (k: dense, j: compressed, l: dense)
    result C: f64, i32, (i,j,l) -> (i: dense, j: compressed, l: dense)
    workspace row: f64, tracked, dense
    extent l = 3
    forall i parallel(rows) {
      where row { forall j { forall l { C[i,j,l] = row[j,l] } } }
      producing { forall k { forall j { forall l { row[j,l] += A[i,k] * B[k,j,l] } } } }
    }
  })",
                        "C[i,j,l] = A[i,k] * B[k,j,l]",
                        {{"A", {6, 5}}, {"B", {5, 7, 3}}}};
  expect_right(example);
}

TEST(Wheres, ResultsOfSumsWithoutTermsHaveNoEntry) {
  expect_right({R"(nest {
    operand A: f64, i32, csr
    operand B: f64, i32, csr
    operand D: f64, i32, csr
    result C: f64, i32, csr
    workspace sum: f64, dense
    forall i { forall j {
      where sum { C[i,j] = D[i,j] * sum } producing { forall k { sum += A[i,k] * B[j,k] } }
    } }
  })",
                "C[i,j] = D[i,j] * sum(k, A[i,k] * B[j,k])",
                {{"A", {6, 7}}, {"B", {8, 7}}, {"D", {6, 8}}},
                many_chunks(),
                0.25},
               {"append-untouched"});
}

TEST(Tuples, TakeNothingWhereASumHasNoTerms) {
  expect_right({R"(nest {
    operand A: f64, i32, csr
    operand B: f64, i32, csr
    result y: f64, dense
    workspace top: f64, dense
    workspace weight: f64, with top, dense
    workspace sum: f64, dense
    forall i {
      where top, weight { y[i] = top + log(weight) } producing {
        forall j {
          where sum {
            sequence { top max= sum
              weight scaled= within(sum, 1) }
          } producing { forall k { sum += A[i,k] * B[j,k] } }
        }
      }
    }
  })",
                "y[i] = logsumexp(j in sum(k, A[i,k] * B[j,k]), sum(k, A[i,k] * B[j,k]))",
                {{"A", {6, 7}}, {"B", {8, 7}}},
                many_chunks(),
                0.3});
}

}  // namespace
}  // namespace tulle::lower
