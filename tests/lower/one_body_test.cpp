// Kernels with one body for all points of a merge lattice.
#include <algorithm>

#include <gtest/gtest.h>

#include "lower/lowered_nest.h"

namespace tulle::lower {
namespace {

Options one_body(Backend backend = Backend::Cpu) {
  Options options = many_chunks(backend);
  options.bodies = {0, 0};
  return options;
}

// C[i,j] = value, where A, B and D are sparse and x is dense.
Example matrices(const std::string& value, const std::string& format,
                 const std::string& result = "dense") {
  std::string declared;
  std::map<std::string, std::vector<int64_t>> sizes;
  for (const std::string name : {"A", "B", "D"}) {
    if (value.find(name + "[") == std::string::npos) continue;
    declared += "  operand " + name + ": f64, i32, " + format + "\n";
    sizes[name] = {6, 7};
  }
  if (value.find("x[") != std::string::npos) {
    declared += "  operand x: f64, dense\n";
    sizes["x"] = {6};
  }
  return {"nest {\n" + declared + "  result C: f64, i32, " + result +
              "\n  forall i { forall j { C[i,j] = " + value + " } }\n}",
          "C[i,j] = " + value, sizes, one_body()};
}

// A sum of tensors of rank 3, in this number.
Example sums(int operands) {
  std::string declared, value;
  std::map<std::string, std::vector<int64_t>> sizes;
  for (int n = 0; n < operands; ++n) {
    const std::string name = "A" + std::to_string(n);
    declared += "  operand " + name + ": f64, i32, csf\n";
    value += (n > 0 ? " + " : "") + name + "[i,j,k]";
    sizes[name] = {3, 4, 5};
  }
  return {"nest {\n" + declared +
              "  result C: f64, i32, csf\n  forall i { forall j { forall k { C[i,j,k] = " + value +
              " } } }\n}",
          "C[i,j,k] = " + value, sizes, many_chunks(), 0.1};
}

std::ptrdiff_t lines_of(const Example& example) {
  const std::string text = LoweredNest(example.nest, example.options).text();
  return std::count(text.begin(), text.end(), '\n');
}

class OneBody : public testing::TestWithParam<const char*> {};

TEST_P(OneBody, MergesAnyExpression) {
  for (const char* value :
       {"A[i,j] + B[i,j] + D[i,j]", "(A[i,j] + B[i,j]) * D[i,j]", "A[i,j] * B[i,j] - D[i,j]",
        "max(A[i,j], B[i,j] - D[i,j])", "x[i] * (A[i,j] - B[i,j]) + D[i,j]",
        "within(A[i,j], B[i,j] + x[i]) - D[i,j]", "where(A[i,j], B[i,j], D[i,j])"}) {
    for (const char* result : {"dense", "csr", "dcsr"})
      expect_right(matrices(value, GetParam(), result));
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, OneBody,
                         testing::Values("csr", "dcsr", "(i,j) -> (i: dense, j: bitmap)",
                                         "(i,j) -> (i: compressed, j: bitmap)"));

TEST(OneBody, EndsWithTheLastOperand) {
  expect_right(matrices("A[i,j] + B[i,j] + D[i,j]", "csr"), {"one-body-ends-early"});
}

TEST(OneBody, KeepsEntriesWhereAllFactorsHaveOne) {
  expect_right(matrices("(A[i,j] + B[i,j]) * D[i,j]", "dcsr", "dcsr"), {"presence-of-any-factor"});
}

TEST(OneBody, IsChosenForManyPoints) {
  EXPECT_EQ(LoweredNest(sums(2).nest).text().find("var more"), std::string::npos);
  EXPECT_NE(LoweredNest(sums(5).nest).text().find("var more"), std::string::npos);
  expect_right(sums(5));
}

TEST(OneBody, TakesManyOperands) { expect_right(sums(20)); }

TEST(OneBody, HasALengthInProportionToTheOperands) {
  const std::ptrdiff_t few = lines_of(sums(6)), many = lines_of(sums(12));
  EXPECT_LT(many, few * 5 / 2);
}

TEST(OneBody, RunsOnThreadsOfAGpu) {
  Example example = matrices("A[i,j] * B[i,j] + D[i,j]", "csr", "csr");
  example.options = one_body(Backend::Gpu);
  expect_right(example);
}

}  // namespace
}  // namespace tulle::lower
