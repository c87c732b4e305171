// Cooperation of the threads in a block: sums and tuples that they combine, copies that they fill,
// values of a chunk that its members share.
#include <gtest/gtest.h>

#include "lower/lowered_nest.h"

namespace tulle::lower {
namespace {

Example row_sums(const std::string& extents, const std::string& loops) {
  return {
      "nest {\n  operand X: f64, dense\n  result y: f64, dense\n  workspace part: f64, dense\n" +
          extents + loops + "\n}",
      "y[i] = X[i,j]",
      {{"X", {5, 40}}},
      many_chunks(Backend::Gpu)};
}

TEST(PartialSums, LanesAddUpByShuffles) {
  const Example example =
      row_sums("extent j = 40\nvar jl = j % 32\nvar js = j / 32\nvar ib = i / 2\nvar iw = i % 2\n",
               R"(forall ib block { forall iw warp {
      where part { forall jl lane { y[i] += part[jl] } }
      producing { forall jl lane { forall js { part[jl] += X[i,j] } } } } })");
  expect_right(example, {"lanes-half-summed"});
  expect_parts(LoweredNest(example.nest, example.options).text(),
               {"warp for", "lane for", "reduce"});
}

TEST(PartialSums, ThreadsAddUpInSharedMemory) {
  const Example example =
      row_sums("extent j = 40\nvar jt = j % 8\nvar js = j / 8\n", R"(forall i block {
      where part { forall jt thread { y[i] += part[jt] } }
      producing { forall jt thread { forall js { part[jt] += X[i,j] } } } })");
  expect_right(example, {"parts-without-barrier"});
  expect_parts(LoweredNest(example.nest, example.options).text(), {"shared", "barrier"});
}

// log-sum-exp over parts that the threads of a block gather.
Example tuples(const std::string& variables, const std::string& merging) {
  return {R"(nest {
    operand X: f64, dense
    result y: f64, dense
    workspace top: f64, dense
    workspace weight: f64, with top, dense
    workspace top_part: f64, dense
    workspace weight_part: f64, with top_part, dense
    extent j = 40
    )" + variables +
              merging + "\n}",
          "y[i] = logsumexp(j, X[i,j])",
          {{"X", {5, 40}}},
          many_chunks(Backend::Gpu)};
}

TEST(TuplesOfLanes, AreMergedByShuffles) {
  const Example example =
      tuples("var jl = j % 32\nvar js = j / 32\nvar ib = i / 2\nvar iw = i % 2\n",
             R"(forall ib block { forall iw warp {
      where top, weight { y[i] = top + log(weight) } producing {
        where top_part, weight_part {
          forall jl lane { sequence { top max= top_part[jl]
            weight scaled= weight_part[jl] } }
        } producing {
          forall jl lane { forall js { sequence { top_part[jl] max= X[i,j]
            weight_part[jl] scaled= within(X[i,j], 1) } } } } } } })");
  expect_right(example, {"lanes-half-merged", "lead-never-shrinks"});
}

TEST(TuplesOfThreads, AreMergedInSharedMemory) {
  const Example example = tuples("var jt = j % 8\nvar js = j / 8\n", R"(forall i block {
      where top, weight { y[i] = top + log(weight) } producing {
        where top_part, weight_part {
          forall jt thread { sequence { top max= top_part[jt]
            weight scaled= weight_part[jt] } }
        } producing {
          forall jt thread { forall js { sequence { top_part[jt] max= X[i,j]
            weight_part[jt] scaled= within(X[i,j], 1) } } } } } })");
  expect_right(example, {"tuples-without-barrier", "lead-never-shrinks"});
}

TEST(Staging, ThreadsCopyTogether) {
  for (const std::string depth : {"", ", depth 2", ", depth 3"}) {
    const Example example{
        "nest {\n  operand A: f64, i32, csr\n  operand B: f64, dense\n  workspace "
        "row: f64, shared" +
            depth + R"(, dense
    result C: f64, dense
    extent k = 8
    var io = i / 4
    var ii = i % 4
    forall io block { forall ii { forall j {
      where row { forall k thread { C[i,k] += A[i,j] * row[k] } }
      producing { forall k { row[k] = B[j,k] } } } } }
  })",
        "C[i,k] = A[i,j] * B[j,k]",
        {{"A", {9, 6}}, {"B", {6, 8}}},
        many_chunks(Backend::Gpu)};
    expect_right(example, depth.empty() ? std::vector<std::string>{}
                                        : std::vector<std::string>{"stage-stale-buffer"});
    expect_parts(LoweredNest(example.nest, example.options).text(), {"shared", "barrier"});
  }
}

TEST(Staging, CopiesOfAThreadAreInRegisters) {
  for (const std::string depth : {"", ", depth 3"}) {
    const Example example{
        "nest {\n  operand A: f64, i32, csr\n  operand B: f64, dense\n  workspace "
        "row: f64, registers" +
            depth + R"(, dense
    result C: f64, dense
    extent k = 8
    forall i { forall j {
      where row { forall k { C[i,k] += A[i,j] * row[k] } }
      producing { forall k { row[k] = B[j,k] } } } }
  })",
        "C[i,k] = A[i,j] * B[j,k]",
        {{"A", {9, 6}}, {"B", {6, 8}}}};
    expect_right(example, depth.empty() ? std::vector<std::string>{}
                                        : std::vector<std::string>{"stage-stale-buffer"});
    expect_parts(LoweredNest(example.nest).text(), {"local f64[8]", "row["});
  }
}

// Blocks of a sparse result, whose insides the members of a chunk share.
const Example kBlocks{R"(nest {
    operand A: f64, i32, csr
    operand B: f64, dense
    result C: f64, i32, (i,j,k,l) -> (i: dense, j: compressed, k: dense, l: dense)
    extent k = 3
    extent l = 2
    forall i parallel(rows) {
      forall j { forall k member { forall l member { C[i,j,k,l] = A[i,j] * B[k,l] } } }
    }
  })",
                      "C[i,j,k,l] = A[i,j] * B[k,l]",
                      {{"A", {6, 5}}, {"B", {3, 2}}},
                      many_chunks(Backend::Gpu)};

TEST(Members, ShareTheValuesOfAChunk) {
  expect_right(kBlocks, {"members-by-chunk", "members-overlap", "members-mixed"});
}

TEST(Members, OneOfThemStoresTheStructure) { expect_right(kBlocks, {"members-all-store"}); }

TEST(Atomics, BlocksAddToOneResult) {
  const Example example{R"(nest {
    operand X: f64, dense
    result y: f64, dense
    extent j = 9
    var ib = i / 4
    var ii = i % 4
    forall ib block(atomics) { forall j thread { forall ii { y[j] += X[i,j] } } }
  })",
                        "y[j] = X[i,j]",
                        {{"X", {10, 9}}},
                        many_chunks(Backend::Gpu)};
  expect_right(example, {"shared-rows-stored"});
}

}  // namespace
}  // namespace tulle::lower
