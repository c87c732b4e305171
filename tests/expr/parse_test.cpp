// Index notation and einsum equations, parsed and printed.
#include <gtest/gtest.h>

#include "expr/program.h"

namespace tulle::expr {
namespace {

struct Case {
  const char* text;
  const char* printed;  // with the fewest parentheses that keep the tree
};

class ParseProgram : public testing::TestWithParam<Case> {};

TEST_P(ParseProgram, PrintsAndParsesBack) {
  const std::string printed = to_string(parse_program(GetParam().text));
  EXPECT_EQ(printed, GetParam().printed + std::string("\n"));
  EXPECT_EQ(to_string(parse_program(printed)), printed);
}

INSTANTIATE_TEST_SUITE_P(
    Programs, ParseProgram,
    testing::Values(
        Case{"C[i,k]=A[i,j]*B[j,k]", "C[i,k] = A[i,j] * B[j,k]"}, Case{"s = t", "s = t"},
        Case{"a = b + c * d", "a = b + c * d"}, Case{"a = (b + c) * d", "a = (b + c) * d"},
        Case{"a = b - (c - d)", "a = b - (c - d)"}, Case{"a = (b - c) - d", "a = b - c - d"},
        Case{"a = b / (c * d)", "a = b / (c * d)"}, Case{"a = b / c * d", "a = b / c * d"},
        Case{"a = -b * c", "a = -b * c"}, Case{"a = -(b * c)", "a = -(b * c)"},
        Case{"a = b - -2", "a = b - -2"}, Case{"a = - - b", "a = --b"},
        Case{"a = 2 * 2.0 * 1e-3 * 0.125", "a = 2 * 2.0 * 0.001 * 0.125"},
        Case{"y[i] = relu(A[i,j])", "y[i] = relu(A[i,j])"},
        Case{"s = sum((i,j), A[i,j])", "s = sum((i,j), A[i,j])"},
        Case{"y[i] = sum((j), A[i,j])", "y[i] = sum(j, A[i,j])"},
        Case{"B[i] = a[i]; C[i] = B[i]", "B[i] = a[i]\nC[i] = B[i]"},
        Case{"\n# a comment\nB[i] = a[i]  # another\n\nC[i] = B[i]\n", "B[i] = a[i]\nC[i] = B[i]"},
        Case{"C[i] = a[i] +\n  (b[i]\n  * c[i])", "C[i] = a[i] + b[i] * c[i]"}));

struct Equation {
  const char* text;
  std::vector<int> ranks;
  const char* printed;
};

class ParseEinsum : public testing::TestWithParam<Equation> {};

TEST_P(ParseEinsum, BecomesAStatement) {
  const std::vector<std::string> names = {"A", "B", "C"};
  const std::vector<int>& ranks = GetParam().ranks;
  const std::vector<std::string> operands(names.begin(),
                                          names.begin() + static_cast<ptrdiff_t>(ranks.size()));
  const ParsedProgram program = parse_einsum(GetParam().text, operands, ranks, "out");
  EXPECT_EQ(to_string(program), GetParam().printed + std::string("\n"));
}

INSTANTIATE_TEST_SUITE_P(
    Equations, ParseEinsum,
    testing::Values(
        Equation{"ij,jk->ik", {2, 2}, "out[i,k] = A[i,j] * B[j,k]"},
        Equation{" i j , j k -> i k ", {2, 2}, "out[i,k] = A[i,j] * B[j,k]"},
        Equation{"ij,jk", {2, 2}, "out[i,k] = A[i,j] * B[j,k]"},
        Equation{"ba", {2}, "out[a,b] = A[b,a]"}, Equation{"bA", {2}, "out[A,b] = A[b,A]"},
        Equation{"ii->i", {2}, "out[i] = A[i,i]"}, Equation{"ii", {2}, "out = A[i,i]"},
        Equation{"ij->", {2}, "out = A[i,j]"}, Equation{",i->i", {0, 1}, "out[i] = A * B[i]"},
        Equation{"...ij,...jk->...ik", {4, 3}, "out[e0,e1,i,k] = A[e0,e1,i,j] * B[e1,j,k]"},
        Equation{"...ij,jk", {3, 2}, "out[e0,i,k] = A[e0,i,j] * B[j,k]"},
        Equation{"i...->...", {3}, "out[e0,e1] = A[i,e0,e1]"},
        Equation{"...i->i", {2}, "out[i] = A[e0,i]"},
        Equation{"ij,jk,kl->il", {2, 2, 2}, "out[i,l] = A[i,j] * B[j,k] * C[k,l]"}));

TEST(ParseEinsum, DimensionsOfSizeOneAreSummedByThemselves) {
  const auto text = [](std::string_view equation, const std::vector<int>& ranks,
                       const Dimensions& ones) {
    return to_string(parse_einsum(equation, {"A", "B"}, ranks, "out", ones));
  };
  EXPECT_EQ(text("ij,jk->ik", {2, 2}, {{1, 0}}), "out[i,k] = A[i,j] * B[one0,k]\n");
  EXPECT_EQ(text("ij,jk->ik", {2, 2}, {{0, 1}, {1, 0}}), "out[i,k] = A[i,j] * B[j,k]\n");
  EXPECT_EQ(text("ij,jk", {2, 2}, {{0, 1}, {0, 0}}), "out[i,k] = A[i,one0] * B[j,k]\n");
  EXPECT_EQ(text("...i,...i->...", {3, 2}, {{0, 1}, {1, 0}}),
            "out[e0,e1] = A[e0,e1,i] * B[e1,i]\n");
  EXPECT_EQ(text("...i,...i->...", {3, 2}, {{1, 0}}), "out[e0,e1] = A[e0,e1,i] * B[one0,i]\n");
}

}  // namespace
}  // namespace tulle::expr
