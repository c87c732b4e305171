// Gradients and tangents of programs against finite differences, and the faults that this detects.
#include <algorithm>

#include <gtest/gtest.h>

#include "grad/derived.h"
#include "support/check.h"
#include "support/mutant.h"
#include "tulle/error.h"

namespace tulle::grad {
namespace {

constexpr double kTolerance = 2e-6;

const Operand kA = {"A", "csr", {4, 5}};
const Operand kSquare = {"S", "csr", {4, 4}};
const Operand kB = {"B", "csc", {4, 5}};
const Operand kX = {"X", "dense", {5, 3}};
const Operand kY = {"Y", "dense", {4, 3}};
const Operand kQ = {"Q", "dense", {4, 3}};
const Operand kK = {"K", "dense", {5, 3}};
const Operand kV = {"V", "dense", {5, 2}};
const Operand kRow = {"r", "dense", {5}};
const Operand kColumn = {"c", "dense", {4}};
const Operand kSparse = {"m", "(i) -> (i: compressed)", {4}};
const Operand kScalar = {"s", "dense", {}};
const Operand kCube = {"T", "csf", {3, 4, 5}};

const std::vector<Example> kExamples = {
    // Products.
    {"C[i,k] = A[i,j] * X[j,k]", {kA, kX}},
    {"y[i] = A[i,j] * r[j]", {kA, kRow}},
    {"C[j,k] = A[i,j] * Y[i,k]", {kA, kY}},
    {"C[i,k] = A[i,j] * B[k,j]", {kA, kB}},
    {"W[i,j] = A[i,j] * Q[i,d] * K[j,d]", {kA, kQ, kK}},
    {"y = A[i,j] * c[i] * r[j]", {kA, kColumn, kRow}},
    {"M[i,f] = T[i,j,k] * Y[j,f] * X[k,f]", {kCube, kY, kX}},
    {"C[i,j] = A[i,j] * A[i,j]", {kA}},
    {"C[i,k] = S[i,j] * S[j,k]", {kSquare}},
    {"y[i] = S[i,i] * c[i]", {kSquare, kColumn}},
    {"t = S[i,i]", {kSquare}},
    // Sums of products, numbers and scalars.
    {"C[i,j] = A[i,j] + 2 * B[i,j]", {kA, kB}},
    {"C[i,j] = A[i,j] - B[i,j] * s", {kA, kB, kScalar}},
    {"C[i,j] = -A[i,j] + c[i] * r[j]", {kA, kColumn, kRow}},
    {"C[i,j] = (A[i,j] + B[i,j]) * r[j]", {kA, kB, kRow}},
    {"y[i] = A[i,j]", {kA}},
    {"y[i] = c[i] + sum(j, A[i,j] * r[j])", {kA, kRow, kColumn}},
    {"y[j] = c[i] * r[j]", {kColumn, kRow}},
    {"y[i] = sum(j, r[j] + c[i])", {kRow, kColumn}},
    {"y[i] = sum(j, A[i,j] - c[i])", {kA, kColumn}},
    // Quotients.
    {"C[i,j] = A[i,j] / r[j]", {kA, kRow}, 0.5, 2},
    {"C[i,j] = c[i] / (r[j] * r[j] + A[i,j])", {kA, kColumn, kRow}, 0.5, 2},
    {"y[i] = sum(j, A[i,j] * r[j]) / c[i]", {kA, kRow, kColumn}, 0.5, 2},
    {"C[i,j] = A[i,j] / sum(k, A[i,k])", {kA}, 0.5, 2},
    // Element functions.
    {"C[i,j] = sin(A[i,j]) * cos(r[j])", {kA, kRow}},
    {"C[i,j] = tan(0.3 * A[i,j]) + tanh(B[i,j])", {kA, kB}},
    {"C[i,j] = asin(0.5 * A[i,j]) + atan(B[i,j])", {kA, kB}},
    {"C[i,j] = sinh(A[i,j]) + asinh(B[i,j])", {kA, kB}},
    {"C[i,j] = cosh(c[i]) * atanh(0.5 * A[i,j])", {kA, kColumn}},
    {"C[i,j] = exp(c[i]) * expm1(A[i,j]) * log1p(0.5 * B[i,j])", {kA, kB, kColumn}},
    {"C[i,j] = erf(A[i,j]) * sigmoid(c[i])", {kA, kColumn}},
    {"C[i,j] = sqrt(A[i,j]) + square(B[i,j])", {kA, kB}, 0.5, 2},
    {"C[i,j] = log(c[i]) * A[i,j]", {kA, kColumn}, 0.5, 2},
    {"C[i,j] = relu(A[i,j]) + abs(B[i,j])", {kA, kB}},
    {"C[i,j] = floor(r[j]) * A[i,j] + sign(B[i,j])", {kA, kB, kRow}},
    {"C[i,j] = ceil(r[j]) * A[i,j] + round(B[i,j]) * trunc(r[j])", {kA, kB, kRow}},
    {"y[i] = exp(sum(j, A[i,j] * r[j]))", {kA, kRow}},
    {"n[i] = sqrt(sum(j, A[i,j] * A[i,j]) + 1)", {kA}},
    // Conditions, masks and extrema of two values.
    {"C[i,j] = where(A[i,j], c[i] * A[i,j], r[j])", {kA, kColumn, kRow}},
    {"C[i,j] = within(A[i,j], c[i] * r[j])", {kA, kColumn, kRow}},
    {"y[i] = sum(j, within(A[i,j], c[i] * r[j] * B[i,j]))", {kA, kB, kColumn, kRow}},
    {"y[i] = within(m[i], max(j, A[i,j] * r[j]))", {kA, kRow, kSparse}, -1.5, 1.5, {"y"}},
    {"C[i,j] = max(A[i,j], B[i,j])", {kA, kB}},
    {"C[i,j] = min(A[i,j], c[i]) * r[j]", {kA, kColumn, kRow}},
    // Reductions.
    {"y[i] = max(j, A[i,j])", {kA}},
    {"y[i] = min(j stored, A[i,j] * r[j])", {kA, kRow}, 0.5, 2},
    {"y[j] = max(i in A[i,j], A[i,j] * c[i])", {kA, kColumn}},
    {"y[i] = mean(j, A[i,j] * r[j])", {kA, kRow}},
    {"y[i] = mean(j stored, A[i,j])", {kA}},
    {"y = mean((i,j), A[i,j])", {kA}},
    {"y[i] = prod(j stored, A[i,j])", {kA}, 0.5, 2},
    {"y = prod(j, r[j])", {kRow}, 0.5, 2},
    {"y[i] = logsumexp(j, A[i,j] * r[j])", {kA, kRow}},
    {"y[i] = logsumexp(j stored, A[i,j])", {kA}},
    {"C[i,j] = softmax(j stored, A[i,j] * c[i])", {kA, kColumn}},
    {"C[i,j] = log_softmax(j stored, A[i,j])", {kA}},
    {"C[i,j] = softmax(j, X[i,j] * 2)", {kX}},
    {"C[i,j] = log_softmax(i, X[i,j])", {kX}},
    // Several statements.
    {"P[i,j] = A[i,j] * Q[i,d] * K[j,d]; W[i,j] = softmax(j stored, P[i,j]); "
     "O[i,e] = W[i,j] * V[j,e]",
     {kA, kQ, kK, kV}},
    {"H[i,k] = A[i,j] * X[j,k]; R[i,k] = relu(H[i,k]); C[i,k] = R[i,k] * H[i,k]", {kA, kX}},
    {"C[i,j] = c[i] * softmax(j stored, A[i,j]) + B[i,j]", {kA, kB, kColumn}},
    {"C[i,j] = B[i,j] * softmax(j stored, A[i,j])", {kA, kB}},
    {"C[i,j] = B[i,j] * softmax(j stored, A[i,j] * exp(sum(d, Q[i,d] * K[j,d])))",
     {kA, kB, kQ, kK}},
    {"y[i] = sum(j, A[i,j]) * sum(j, A[i,j] * r[j])", {kA, kRow}},
    {"d[i] = sum(j, A[i,j]); C[i,j] = A[i,j] / (d[i] * d[i] + 1)", {kA}},
    {"m[i] = max(j stored, A[i,j]); E[i,j] = exp(A[i,j] - m[i]); y[i] = sum(j, E[i,j])", {kA}},
    {"P[i,j] = c[i] * r[j]; D[i,j] = A[i,j] * P[i,j]", {kA, kColumn, kRow}},
    {"P[i,j] = c[i] * r[j]; D[i,j] = A[i,j] * P[i,j]; E[i,j] = B[i,j] * P[i,j]",
     {kA, kB, kColumn, kRow}},
    {"D[i,j] = A[i,j] * (sum(d, Q[i,d] * K[j,d]) + exp(sum(d, Q[i,d] * K[j,d])))", {kA, kQ, kK}},
};

TEST(Gradient, OfEachOperandEqualsFiniteDifferences) {
  for (const Example& example : kExamples) {
    EXPECT_LT(gradient_error(example), kTolerance)
        << example.program << "\n"
        << gradient_text(example, {example.operands[0].name});
  }
}

TEST(Gradient, OfGradientsEqualsFiniteDifferences) {
  for (const Example& example : kExamples) {
    EXPECT_LT(second_gradient_error(example), kTolerance * 10) << example.program;
  }
}

TEST(Tangent, OfEachResultEqualsFiniteDifferences) {
  for (const Example& example : kExamples) {
    EXPECT_LT(tangent_error(example), kTolerance) << example.program << "\n"
                                                  << tangent_text(example);
  }
}

expr::ReferenceTensor tensor(std::vector<int64_t> sizes, const std::vector<double>& values,
                             const std::vector<bool>& stored) {
  return {DType::Float64, std::move(sizes), values, {}, stored};
}

// Row 0 ties twice, row 1 with what is absent, row 2 not at all.
const expr::ReferenceTensor kTies = tensor(
    {3, 3}, {2, 1, 2, 0, -1, 0, 1, 0, 3}, {true, true, true, true, true, false, true, false, true});

TEST(Gradient, OfMaximaSharesTiesEvenly) {
  EXPECT_EQ(
      gradient_entries({"y[i] = max(j, A[i,j])", {{"A", "csr", {3, 3}}}}, "A", {{"A", kTies}}),
      "0.5 0 0.5 0.5 0 _ 0 _ 1");
  EXPECT_EQ(gradient_entries({"y[i] = max(j stored, A[i,j])", {{"A", "csr", {3, 3}}}}, "A",
                             {{"A", kTies}}),
            "0.5 0 0.5 1 0 _ 0 _ 1");
}

TEST(Gradient, OfMaximaOfTwoValuesSharesTiesEvenly) {
  const Example example = {"C[i] = max(a[i], b[i])", {{"a", "dense", {3}}, {"b", "dense", {3}}}};
  EXPECT_EQ(gradient_entries(example, "a",
                             {{"a", tensor({3}, {1, 2, 3}, {true, true, true})},
                              {"b", tensor({3}, {2, 2, 1}, {true, true, true})}}),
            "0 0.5 1");
}

// Row 1 has one zero, row 2 two.
const Example kProduct = {"y[i] = prod(j, X[i,j])", {{"X", "dense", {3, 3}}}};
const expr::ReferenceTensor kZeros =
    tensor({3, 3}, {2, 3, 4, 2, 0, 4, 0, 0, 4}, std::vector<bool>(9, true));
const std::string kOfProduct = "12 8 6 0 8 0 0 0 0";

TEST(Gradient, OfProductsWithZeros) {
  EXPECT_EQ(gradient_entries(kProduct, "X", {{"X", kZeros}}), kOfProduct);
}

TEST(Gradient, OfDiagonalsIsZeroBesideThem) {
  const Example example = {"t = S[i,i]", {{"S", "csr", {2, 2}}}};
  EXPECT_EQ(gradient_entries(example, "S",
                             {{"S", tensor({2, 2}, {5, 6, 0, 7}, {true, true, false, true})}}),
            "1 0 _ 1");
}

TEST(Gradient, OfIntegersIsZero) {
  const Example example = {"y[i] = argmax(j, A[i,j])", {kA}};
  EXPECT_EQ(gradient_text(example, {"A"}), "");
}

// No statement of a gradient may have more entries than the operands and results.
TEST(Gradient, OfSampledProductsStaysWithinThePattern) {
  EXPECT_EQ(gradient_text({"W[i,j] = A[i,j] * Q[i,d] * K[j,d]", {kA, kQ, kK}}, {"A", "Q"}),
            "grad_A[i,j] = within(A[i,j], sum(d, grad_W[i,j] * K[j,d] * Q[i,d]))\n"
            "grad_Q[i,d] = sum(j, grad_W[i,j] * K[j,d] * A[i,j])\n");
}

// Whether some example differs from finite differences, or ties are not shared evenly.
bool is_wrong_somewhere() {
  for (const Example& example : kExamples) {
    if (gradient_error(example) > kTolerance || tangent_error(example) > kTolerance) return true;
  }
  const Example of_row = {"y[i] = max(j, A[i,j])", {{"A", "csr", {3, 3}}}};
  if (gradient_entries(of_row, "A", {{"A", kTies}}) != "0.5 0 0.5 0.5 0 _ 0 _ 1") return true;
  const Example of_two = {"C[i] = max(a[i], b[i])", {{"a", "dense", {1}}, {"b", "dense", {1}}}};
  const expr::ReferenceTensor two = tensor({1}, {2}, {true});
  if (gradient_entries(of_two, "a", {{"a", two}, {"b", two}}) != "0.5") return true;
  if (gradient_entries(kProduct, "X", {{"X", kZeros}}) != kOfProduct) return true;
  return std::any_of(kExamples.begin(), kExamples.end(), [](const Example& example) {
    return second_gradient_error(example) > 10 * kTolerance;
  });
}

// Whether some example is wrong or refused.
bool fails_somewhere() {
  try {
    return is_wrong_somewhere();
  } catch (const Error&) {
    return true;
  }
}

bool is_detected(const std::string& mutant) {
  set_mutant(mutant);
  const bool fails = fails_somewhere();
  set_mutant("");
  return fails;
}

TEST(Gradient, DetectsEveryMutant) {
  EXPECT_FALSE(is_wrong_somewhere());
  for (const char* name : {"absent-never-ties",
                           "bound-indices-shared",
                           "branches-swapped",
                           "derivative-drops-sign",
                           "diagonal-everywhere",
                           "difference-as-sum",
                           "divisor-around-sum-lost",
                           "equal-shares-once",
                           "last-term-lost",
                           "last-use-dropped",
                           "log-softmax-as-softmax",
                           "mask-around-forgotten",
                           "mask-ignored",
                           "mask-presumed-implied",
                           "mask-under-bound-index",
                           "masks-of-first-use",
                           "mean-of-stored-counts-all",
                           "minimum-as-maximum",
                           "product-rule-half",
                           "quotient-without-square",
                           "repetitions-forgotten",
                           "row-of-softmax-dropped",
                           "single-zero-ignored",
                           "smaller-of-two-as-larger",
                           "softmax-masked",
                           "tangent-of-log-softmax",
                           "tangent-of-row-dropped",
                           "ties-to-both"}) {
    EXPECT_TRUE(is_detected(name)) << name;
  }
}

TEST(Gradient, DetectsAFaultInTheDerivativeOfEachFunction) {
  std::vector<std::string> functions;
#define X(name, text, keeps_zero, integers) functions.emplace_back(text);
  TULLE_ELEMENT_FUNCTIONS(X)
#undef X
  for (const std::string& function : functions) {
    // Only later stages write positions.
    if (function == "position") continue;
    EXPECT_TRUE(is_detected(concat("derivative-of-", function))) << function;
  }
  for (const char* reduction : {"max", "min", "mean", "prod", "logsumexp"}) {
    EXPECT_TRUE(is_detected(concat("factor-of-", reduction))) << reduction;
  }
}

}  // namespace
}  // namespace tulle::grad
