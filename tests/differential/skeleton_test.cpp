// A few basic programs through every stage.
#include <gtest/gtest.h>

#include "differential/differential.h"

namespace tulle::differential {
namespace {

struct Named {
  const char* name;
  const char* text;
  std::vector<Operand> operands;
};

const std::vector<Named>& programs() {
  static const std::vector<Named> all = {
      {"spmv", "y[i] = A[i,j] * x[j]", {{"A", "csr", {7, 9}}, {"x", "dense", {9}}}},
      {"spmm", "C[i,k] = A[i,j] * B[j,k]", {{"A", "csr", {7, 9}}, {"B", "dense", {9, 20}}}},
      {"spmm_csc", "C[i,k] = A[i,j] * B[j,k]", {{"A", "csc", {7, 9}}, {"B", "dense", {9, 20}}}},
      {"spmm_coo", "C[i,k] = A[i,j] * B[j,k]", {{"A", "coo", {7, 9}}, {"B", "dense", {9, 20}}}},
      {"spmm_dcsr", "C[i,k] = A[i,j] * B[j,k]", {{"A", "dcsr", {7, 9}}, {"B", "dense", {9, 20}}}},
      {"spmm_bsr",
       "C[i,k] = A[i,j] * B[j,k]",
       {{"A", "bsr(2,3)", {7, 9}}, {"B", "dense", {9, 20}}}},
      {"dense_sparse", "C[i,k] = B[i,j] * A[j,k]", {{"A", "csr", {7, 9}}, {"B", "dense", {5, 7}}}},
      {"sddmm",
       "S[i,j] = A[i,j] * Q[i,d] * K[j,d]",
       {{"A", "csr", {7, 9}}, {"Q", "dense", {7, 20}}, {"K", "dense", {9, 20}}}},
      {"scale", "S[i,j] = A[i,j] * d[i]", {{"A", "csr", {7, 9}}, {"d", "dense", {7}}}},
      {"add", "C[i,j] = A[i,j] + B[i,j]", {{"A", "csr", {7, 9}}, {"B", "csr", {7, 9}}}},
      {"subtract_mixed", "C[i,j] = A[i,j] - B[i,j]", {{"A", "csr", {7, 9}}, {"B", "csc", {7, 9}}}},
      {"add_coo", "C[i,j] = A[i,j] + B[i,j]", {{"A", "coo", {7, 9}}, {"B", "coo", {7, 9}}}},
      {"add_dcsr_csr", "C[i,j] = A[i,j] + B[i,j]", {{"A", "dcsr", {7, 9}}, {"B", "csr", {7, 9}}}},
      {"multiply", "C[i,j] = A[i,j] * B[i,j]", {{"A", "csr", {7, 9}}, {"B", "csr", {7, 9}}}},
      {"three",
       "C[i,j] = (A[i,j] + B[i,j]) * D[i,j]",
       {{"A", "csr", {7, 9}}, {"B", "csr", {7, 9}}, {"D", "csr", {7, 9}}}},
      {"multiply_add",
       "C[i,j] = A[i,j] * B[i,j] + D[i,j]",
       {{"A", "csr", {7, 9}}, {"B", "csr", {7, 9}}, {"D", "csr", {7, 9}}}},
      {"spgemm", "C[i,j] = A[i,k] * B[k,j]", {{"A", "csr", {7, 9}}, {"B", "csr", {9, 6}}}},
      {"spgemm_coo", "C[i,j] = A[i,k] * B[k,j]", {{"A", "coo", {7, 9}}, {"B", "coo", {9, 6}}}},
      {"spgemm_csc", "C[i,j] = A[i,k] * B[k,j]", {{"A", "csc", {7, 9}}, {"B", "csc", {9, 6}}}},
      {"row_sum", "y[i] = sum(j, A[i,j])", {{"A", "csr", {7, 9}}}},
      {"column_sum", "y[j] = sum(i, A[i,j])", {{"A", "csr", {7, 9}}}},
      {"total", "s = sum((i,j), A[i,j])", {{"A", "csr", {7, 9}}}},
      {"outer", "C[i,j] = a[i] * b[j]", {{"a", "csf", {7}}, {"b", "csf", {6}}}},
      {"diagonal", "d[i] = A[i,i]", {{"A", "csr", {7, 7}}}},
      {"trace", "t = A[i,i]", {{"A", "csr", {7, 7}}}},
      {"gram", "C[i,j] = A[k,i] * A[k,j]", {{"A", "csr", {7, 9}}}},
      {"chain",
       "D[i,l] = A[i,j] * B[j,k] * C[k,l]",
       {{"A", "csr", {5, 6}}, {"B", "csr", {6, 7}}, {"C", "dense", {7, 8}}}},
      {"affine",
       "y[i] = b[i] + A[i,j] * x[j]",
       {{"A", "csr", {7, 9}}, {"x", "dense", {9}}, {"b", "dense", {7}}}},
      {"relu", "y[i] = relu(sum(j, A[i,j] * x[j]))", {{"A", "csr", {7, 9}}, {"x", "dense", {9}}}},
      {"ttv", "C[i,j] = T[i,j,k] * x[k]", {{"T", "csf", {4, 5, 6}}, {"x", "dense", {6}}}},
      {"ttm", "C[i,j,l] = T[i,j,k] * B[k,l]", {{"T", "csf", {4, 5, 6}}, {"B", "dense", {6, 7}}}},
      {"mttkrp",
       "M[i,r] = T[i,j,k] * B[j,r] * C[k,r]",
       {{"T", "csf", {4, 5, 6}}, {"B", "dense", {5, 16}}, {"C", "dense", {6, 16}}}},
      {"inner",
       "s = sum((i,j,k), T[i,j,k] * U[i,j,k])",
       {{"T", "csf", {4, 5, 6}}, {"U", "coo", {4, 5, 6}}}},
      {"transpose", "C[i,j] = A[j,i]", {{"A", "csr", {7, 9}}}},
      {"seven_products",
       "C[i,j] = A[i,j] * B[i,j] * A[i,j] * B[i,j] * A[i,j] * B[i,j] * A[i,j]",
       {{"A", "csr", {7, 9}, 0.8}, {"B", "csc", {7, 9}, 0.8}}},
      {"nine_terms",
       "C[i,j] = A[i,j] + B[i,j] - D[i,j] + A[i,j] + B[i,j] + D[i,j] - A[i,j] + B[i,j] + D[i,j]",
       {{"A", "csr", {7, 9}}, {"B", "dcsr", {7, 9}}, {"D", "coo", {7, 9}}}},
      {"two_statements",
       "T[i,j] = A[i,j] * 2\ny[i] = T[i,j] * x[j]",
       {{"A", "csr", {7, 9}}, {"x", "dense", {9}}}},
  };
  return all;
}

class Skeleton : public testing::TestWithParam<Named> {};

TEST_P(Skeleton, AgreesInterpreted) {
  const Case test{GetParam().text, GetParam().operands, {}, {}, {}, 7, 2};
  EXPECT_EQ(run_case(test, kInterpreted), "") << to_string(test);
}

TEST_P(Skeleton, AgreesCompiled) {
  const Case test{GetParam().text, GetParam().operands, {}, {}, {}, 7, 2};
  EXPECT_EQ(run_case(test, kCompiled), "") << to_string(test);
}

INSTANTIATE_TEST_SUITE_P(Programs, Skeleton, testing::ValuesIn(programs()),
                         [](const auto& entry) { return std::string(entry.param.name); });

}  // namespace
}  // namespace tulle::differential
