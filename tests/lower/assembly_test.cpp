// The assembly of sparse results: kernels count entries, begin and end rows, and append entries.
#include <gtest/gtest.h>

#include "lower/lowered_nest.h"

namespace tulle::lower {
namespace {

Example product(const std::string& format, const Options& options = many_chunks()) {
  return {"nest {\n  operand A: f64, i32, csr\n  operand B: f64, i32, csr\n  result C: f64, i32, " +
              format + "\n  forall i parallel(rows) { forall j { C[i,j] = A[i,j] * B[i,j] } }\n}",
          "C[i,j] = A[i,j] * B[i,j]",
          {{"A", {9, 8}}, {"B", {9, 8}}},
          options,
          0.5};
}

TEST(Assembly, EveryFormatOfAResult) {
  for (const char* format : {"csr", "coo", "dcsr", "ell(8)", "(i,j) -> (i: dense, j: bitmap)",
                             "(i,j) -> (i: compressed, j: compressed)"}) {
    for (const Backend backend : {Backend::Cpu, Backend::Gpu}) {
      Example example = product(format, many_chunks(backend));
      EXPECT_EQ(wrong_with(example), "") << format << "\n" << example.nest;
    }
  }
}

TEST(Assembly, CountsBeforeItFills) {
  const std::string text = LoweredNest(product("csr").nest).text();
  expect_parts(text, {"C.entries0 = alloc zeroed i64[C.chunks + 1]", "launch count_C",
                      "scan C.entries0", "C.crd1 = alloc", "launch fill_C", "kernel count_C",
                      "C.entries0[chunk] = C_next0", "kernel fill_C", "C.pos1[0] = 0"});
}

TEST(Assembly, FormatsOfKnownWidthReadTheWidestRow) {
  expect_parts(LoweredNest(product("ell(8)").nest).text(),
               {"launch count_C", "C.width", "read C.widest[0]", "launch fill_C"});
}

TEST(Assembly, AnEntryExistsIfSomethingIsAssigned) {
  const Example example{R"(nest {
    operand A: f64, i32, csr
    operand B: f64, i32, csr
    result C: f64, i32, (i,k) -> (i: dense, k: compressed)
    extent k = 4
    forall i { forall k { forall j { C[i,k] += A[i,j] * B[k,j] } } }
  })",
                        "C[i,k] = A[i,j] * B[k,j]",
                        {{"A", {7, 5}}, {"B", {4, 5}}},
                        many_chunks(),
                        0.25};
  expect_right(example, {"append-untouched"});
}

TEST(Assembly, RowsWithoutEntriesEnd) {
  expect_right({R"(nest {
    operand A: f64, i32, dcsr
    result C: f64, i32, csr
    forall i { forall j { C[i,j] = A[i,j] * 2 } }
  })",
                "C[i,j] = A[i,j] * 2",
                {{"A", {12, 5}}},
                many_chunks(),
                0.1});
}

TEST(Assembly, RowsOfPaddingEnd) {
  expect_right({R"(nest {
    operand A: f64, i32, csr
    result C: f64, i32, (i,j) -> (i / 4: dense, i % 4: dense, j: compressed)
    var io = i / 4
    var ii = i % 4
    forall io { forall ii { forall j { C[i,j] = A[i,j] * 2 } } }
  })",
                "C[i,j] = A[i,j] * 2",
                {{"A", {10, 5}}}});
}

TEST(Assembly, ResultsThatShareAPatternHaveValuesAlone) {
  const Example example{R"(nest {
    operand A: f64, i32, csr
    operand d: f64, dense
    result C: f64, i32, like A, csr
    forall i parallel(nnz) { forall j { C[i,j] = A[i,j] * d[i] } }
  })",
                        "C[i,j] = A[i,j] * d[i]",
                        {{"A", {9, 6}}, {"d", {9}}}};
  expect_right(example, {"chunk-skips-row"});
  EXPECT_EQ(LoweredNest(example.nest).text().find("C.crd1"), std::string::npos);
}

TEST(Assembly, MembersThatFindDifferentEntriesAreLeftOut) {
  const Example example{R"(nest {
    operand A: f64, i32, csr
    operand B: f64, i32, (j,k) -> (j: dense, k: bitmap)
    result C: f64, i32, (i,j,k) -> (i: dense, j: compressed, k: dense)
    extent k = 3
    forall i parallel(rows) { forall j { forall k member { C[i,j,k] = A[i,j] * B[j,k] } } }
  })",
                        "C[i,j,k] = A[i,j] * B[j,k]",
                        {{"A", {6, 5}}, {"B", {5, 3}}},
                        many_chunks(Backend::Gpu),
                        0.5};
  EXPECT_EQ(LoweredNest(example.nest, example.options).text().find("member"), std::string::npos);
}

}  // namespace
}  // namespace tulle::lower
