// The placement of implicit sums.
#include <gtest/gtest.h>

#include "expr/fixture.h"
#include "tulle/error.h"

namespace tulle::expr {
namespace {

const std::vector<Operand> kOperands = {{"A", 2, "csr"},   {"B", 2, "csr"},   {"T", 3, "csf"},
                                        {"b", 1, "dense"}, {"x", 1, "dense"}, {"s", 0, "dense"}};

struct Case {
  const char* text;
  const char* explicit_sums;
};

class ImplicitSums : public testing::TestWithParam<Case> {};

TEST_P(ImplicitSums, BecomeExplicit) {
  EXPECT_EQ(text_of(resolved(GetParam().text, kOperands)), GetParam().explicit_sums);
}

INSTANTIATE_TEST_SUITE_P(
    Rules, ImplicitSums,
    testing::Values(Case{"C[i,k] = A[i,j] * B[j,k]", "C[i,k] = sum(j, A[i,j] * B[j,k])"},
                    // Separately in each additive term: b is added once.
                    Case{"y[i] = b[i] + A[i,j] * x[j]", "y[i] = b[i] + sum(j, A[i,j] * x[j])"},
                    Case{"y[i] = A[i,j] - B[i,j]", "y[i] = sum(j, A[i,j]) - sum(j, B[i,j])"},
                    Case{"y[i] = (A[i,j] + b[i]) * x[i]", "y[i] = (sum(j, A[i,j]) + b[i]) * x[i]"},
                    // Around the smallest subexpression that contains all uses.
                    Case{"y[i] = (A[i,j] + b[i]) * x[j]", "y[i] = sum(j, (A[i,j] + b[i]) * x[j])"},
                    Case{"y[i] = b[i] * (A[i,j] * x[j])", "y[i] = b[i] * sum(j, A[i,j] * x[j])"},
                    Case{"C[i,l] = A[i,j] * B[j,k] * A[k,l]",
                         "C[i,l] = sum(k, sum(j, A[i,j] * B[j,k]) * A[k,l])"},
                    Case{"r = A[i,j]", "r = sum((i,j), A[i,j])"},
                    Case{"r = b[i] * x[j]", "r = sum(i, b[i]) * sum(j, x[j])"},
                    Case{"y[i] = -A[i,j]", "y[i] = -sum(j, A[i,j])"},
                    Case{"y[i] = A[i,j] / s", "y[i] = sum(j, A[i,j]) / s"},
                    Case{"y[i] = A[i,j] / x[j]", "y[i] = sum(j, A[i,j] / x[j])"},
                    Case{"y[i] = relu(A[i,j]) * x[j]", "y[i] = sum(j, relu(A[i,j]) * x[j])"},
                    Case{"y[i] = relu(sum(j, A[i,j]))", "y[i] = relu(sum(j, A[i,j]))"},
                    Case{"y[i] = sum(j, relu(A[i,j]))", "y[i] = sum(j, relu(A[i,j]))"},
                    Case{"y[i] = sum(j, T[i,j,k])", "y[i] = sum(j, sum(k, T[i,j,k]))"},
                    Case{"y[i] = sum(j, A[i,j]) * x[j]", "y[i] = sum(j, A[i,j]) * sum(j, x[j])"},
                    Case{"r = A[i,i]", "r = sum(i, A[i,i])"}));

struct Mistake {
  const char* text;
  const char* message;
};

class SumError : public testing::TestWithParam<Mistake> {};

TEST_P(SumError, SaysWhatToWrite) {
  try {
    resolved(GetParam().text, kOperands);
    FAIL() << "resolved: " << GetParam().text;
  } catch (const UserError& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find(GetParam().message), std::string::npos) << message;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Mistakes, SumError,
    testing::Values(
        Mistake{"y[i] = relu(A[i,j] * x[j])",
                "relu(sum(j, A[i,j] * x[j])) or sum(j, relu(A[i,j] * x[j]))"},
        Mistake{"r = b[i] + sin(A[i,j])", "sin(sum((i,j), A[i,j])) or sum((i,j), sin(A[i,j]))"},
        Mistake{"y[i] = b[i] / A[i,j]", "b[i] / sum(j, A[i,j]) or sum(j, b[i] / A[i,j])"},
        Mistake{"y[i] = sum(k, A[i,j])", "the sum is over 'k', which its argument does not use"},
        Mistake{"y[i] = sum(i, A[i,j])", "'i' is summed here, but it is also on the left"},
        Mistake{"y[i] = x[j] * sum(j, A[i,j]) * x[j]",
                "'j' is summed here and by an enclosing reduction"}));

}  // namespace
}  // namespace tulle::expr
