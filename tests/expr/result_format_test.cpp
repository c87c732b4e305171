// Default formats of results.
#include <gtest/gtest.h>

#include "expr/fixture.h"

namespace tulle::expr {
namespace {

struct Case {
  const char* statement;
  std::vector<Operand> operands;
  const char* format;
};

class ResultFormat : public testing::TestWithParam<Case> {};

TEST_P(ResultFormat, FollowsTheRules) {
  const ResolvedProgram program = resolved(GetParam().statement, GetParam().operands);
  const std::string result = program.results.at(0);
  EXPECT_EQ(program.tensors.at(result).format.name(), GetParam().format);
}

constexpr const char* kProduct = "C[i,k] = A[i,j] * B[j,k]";
constexpr const char* kSampled = "C[i,j] = A[i,j] * Q[i,d] * K[j,d]";

INSTANTIATE_TEST_SUITE_P(
    MatrixProducts, ResultFormat,
    testing::Values(
        Case{kProduct, {{"A", 2, "dense"}, {"B", 2, "dense"}}, "dense"},
        Case{kProduct, {{"A", 2, "csr"}, {"B", 2, "dense"}}, "dense"},
        Case{kProduct, {{"A", 2, "csc"}, {"B", 2, "dense"}}, "dense"},
        Case{kProduct, {{"A", 2, "dcsr"}, {"B", 2, "dense"}}, "dense"},
        Case{kProduct, {{"A", 2, "coo"}, {"B", 2, "dense"}}, "dense"},
        Case{kProduct, {{"A", 2, "bsr(2,2)"}, {"B", 2, "dense"}}, "dense"},
        Case{kProduct, {{"A", 2, "dense"}, {"B", 2, "csr"}}, "dense"},
        Case{kProduct, {{"A", 2, "csr"}, {"B", 2, "csr"}}, "csr"},
        Case{kProduct, {{"A", 2, "csc"}, {"B", 2, "csc"}}, "csc"},
        Case{kProduct, {{"A", 2, "coo"}, {"B", 2, "coo"}}, "coo"},
        Case{kProduct, {{"A", 2, "dcsr"}, {"B", 2, "dcsr"}}, "dcsr"},
        Case{kProduct, {{"A", 2, "csc"}, {"B", 2, "csr"}}, "csc"},
        Case{kProduct, {{"A", 2, "bsr(2,3)"}, {"B", 2, "bsr(3,4)"}}, "bsr(2,4)"},
        Case{kProduct, {{"A", 2, "bsc(2,2)"}, {"B", 2, "bsc(2,2)"}}, "bsc(2,2)"},
        Case{kProduct, {{"A", 2, "bsr(2,3)"}, {"B", 2, "bsr(2,3)"}}, "csr"},
        Case{kProduct, {{"A", 2, "bsr(2,2)"}, {"B", 2, "csr"}}, "csr"},
        Case{kProduct, {{"A", 2, "csr"}, {"B", 2, "bsr(2,2)"}}, "csr"},
        Case{"C[i,l] = A[i,j] * B[j,k] * A[k,l]", {{"A", 2, "csr"}, {"B", 2, "csr"}}, "csr"},
        Case{"C[i,j] = A[i,k] * B[k,j] + D[i,j]",
             {{"A", 2, "csr"}, {"B", 2, "csr"}, {"D", 2, "coo"}},
             "csr"},
        Case{"C[b,i,k] = A[b,i,j] * B[b,j,k]", {{"A", 3, "csr"}, {"B", 3, "dense"}}, "dense"},
        Case{"C[b,i,k] = A[b,i,j] * B[b,j,k]", {{"A", 3, "csc"}, {"B", 3, "dense"}}, "dense"},
        Case{"C[b,i,k] = A[b,i,j] * B[b,j,k]", {{"A", 3, "csr"}, {"B", 3, "csr"}}, "csr"}));

INSTANTIATE_TEST_SUITE_P(
    OnePattern, ResultFormat,
    testing::Values(
        Case{kSampled, {{"A", 2, "csr"}, {"Q", 2, "dense"}, {"K", 2, "dense"}}, "csr"},
        Case{kSampled, {{"A", 2, "bsr(2,2)"}, {"Q", 2, "dense"}, {"K", 2, "dense"}}, "bsr(2,2)"},
        Case{"C[i,j] = A[i,j] * B[i,j]", {{"A", 2, "dcsc"}, {"B", 2, "dense"}}, "dcsc"},
        Case{"C[i,j] = B[i,j] * A[i,j]", {{"A", 2, "coo"}, {"B", 2, "dense"}}, "coo"},
        Case{"C[i,j] = A[i,j] + B[i,j]", {{"A", 2, "csr"}, {"B", 2, "csr"}}, "csr"},
        Case{"C[i,j] = A[i,j] + B[i,j]", {{"A", 2, "csc"}, {"B", 2, "csr"}}, "csc"},
        Case{"C[i,j] = (A[i,j] + B[i,j]) * D[i,j]",
             {{"A", 2, "csr"}, {"B", 2, "csr"}, {"D", 2, "csr"}},
             "csr"},
        Case{"C[i,j] = A[j,i]", {{"A", 2, "csr"}}, "csc"},
        Case{"C[i,j] = A[i,j] + A[j,i]", {{"A", 2, "csr"}}, "csr"},
        Case{"C[i,j] = d[i] * A[i,j]", {{"A", 2, "csr"}, {"d", 1, "dense"}}, "csr"},
        Case{"C[i,j] = d[i] * A[i,j]", {{"A", 2, "csr"}, {"d", 1, "coo"}}, "csr"},
        Case{"C[i,j] = relu(A[i,j]) * s", {{"A", 2, "csr"}, {"s", 0, "dense"}}, "csr"},
        Case{"C[i,j] = A[i,j] / B[i,j]", {{"A", 2, "csr"}, {"B", 2, "dense"}}, "csr"},
        Case{"c[i] = a[i] * b[i]", {{"a", 1, "coo"}, {"b", 1, "dense"}}, "coo"},
        Case{"C[k,i,j] = T[i,j,k]",
             {{"T", 3, "csf"}},
             "(k,i,j) -> (i: compressed, j: compressed, k: compressed)"}));

INSTANTIATE_TEST_SUITE_P(
    Dense, ResultFormat,
    testing::Values(Case{"C[i,j] = A[i,j] + B[i,j]", {{"A", 2, "csr"}, {"B", 2, "dense"}}, "dense"},
                    Case{"C[i,j] = A[i,j] + 1", {{"A", 2, "csr"}}, "dense"},
                    Case{"C[i,j] = A[i,j] + b[i]", {{"A", 2, "csr"}, {"b", 1, "dense"}}, "dense"},
                    Case{"C[i,j] = B[i,j] / A[i,j]", {{"A", 2, "csr"}, {"B", 2, "dense"}}, "dense"},
                    Case{"y[i] = A[i,j]", {{"A", 2, "csr"}}, "dense"},
                    Case{"y[j] = A[i,j]", {{"A", 2, "coo"}}, "dense"},
                    Case{"s = A[i,j]", {{"A", 2, "coo"}}, "dense"},
                    Case{"y[i] = A[i,i]", {{"A", 2, "csr"}}, "dense"},
                    Case{"y[i] = A[i,j] * x[j]", {{"A", 2, "csr"}, {"x", 1, "coo"}}, "dense"},
                    Case{"C[i,r] = T[i,j,k] * B[j,r] * D[k,r]",
                         {{"T", 3, "csf"}, {"B", 2, "dense"}, {"D", 2, "dense"}},
                         "dense"}));

INSTANTIATE_TEST_SUITE_P(
    Mixed, ResultFormat,
    testing::Values(Case{"C[i,j] = a[i] * b[j]", {{"a", 1, "coo"}, {"b", 1, "coo"}}, "coo"},
                    Case{"C[i,j] = a[i] * b[j]",
                         {{"a", 1, "coo"}, {"b", 1, "dense"}},
                         "(i,j) -> (i: compressed, j: dense)"},
                    Case{"C[i,j] = T[i,j,k] * v[k]", {{"T", 3, "csf"}, {"v", 1, "dense"}}, "dcsr"},
                    Case{"C[i,k] = T[i,j,k] * v[j]", {{"T", 3, "coo"}, {"v", 1, "dense"}}, "coo"},
                    Case{"C[j,k] = T[i,j,k] * v[i]", {{"T", 3, "csr"}, {"v", 1, "dense"}}, "csr"},
                    Case{"C[i,j,l] = T[i,j,k] * V[k,l]",
                         {{"T", 3, "csf"}, {"V", 2, "dense"}},
                         "(i,j,l) -> (i: compressed, j: compressed, l: dense)"},
                    Case{"C[l,j,k] = T[i,j,k] * V[i,l]",
                         {{"T", 3, "coo"}, {"V", 2, "dense"}},
                         "(l,j,k) -> (j: compressed nonunique, k: singleton, l: dense)"},
                    Case{"C[i,j,l] = T[i,j,k] * V[k,l]", {{"T", 3, "csf"}, {"V", 2, "csr"}}, "csf"},
                    Case{"C[i,l] = T[i,j,k] * U[j,k,l]", {{"T", 3, "csf"}, {"U", 3, "csf"}}, "csr"},
                    Case{"C[i,j] = A[i,j] + b[j]", {{"A", 2, "dcsr"}, {"b", 1, "coo"}}, "csr"}));

TEST(ResultFormat, DuplicatesAreGoneInAResult) {
  const char* format =
      "(i,j) -> (i: compressed nonunique unordered, j: singleton nonunique unordered)";
  const ResolvedProgram program = resolved("C[i,j] = 2 * A[i,j]", {{"A", 2, format}});
  EXPECT_EQ(program.tensors.at("C").format.name(), "coo");
}

TEST(ResultFormat, OnePatternMayStayUnordered) {
  const char* format = "(i,j) -> (i: dense, j: compressed unordered)";
  EXPECT_EQ(resolved("C[i,j] = 2 * A[i,j]", {{"A", 2, format}}).tensors.at("C").format.to_string(),
            format);
  EXPECT_EQ(resolved("C[i,j] = A[i,j] + A[j,i]", {{"A", 2, format}}).tensors.at("C").format.name(),
            "csr");
}

}  // namespace
}  // namespace tulle::expr
