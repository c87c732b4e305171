// The reference evaluator against values computed by hand, rule by rule.
#include "expr/reference.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "expr/fixture.h"
#include "tulle/error.h"

namespace tulle::expr {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

using Tensors = std::map<std::string, ReferenceTensor>;

// The entries of the first result.
std::string run(const std::string& program, const std::vector<Operand>& operands,
                const Tensors& tensors, const ResolveOptions& options = {}) {
  const ResolvedProgram resolved_program = resolved(program, operands, options);
  return entries(evaluate(resolved_program, tensors).at(resolved_program.results.at(0)));
}

const ReferenceTensor kA = tensor({2, 3}, {1, _, 2, _, _, 3});
const ReferenceTensor kB = tensor({2, 3}, {10, 20, _, _, _, 30});

TEST(Reference, SparseTimesDense) {
  EXPECT_EQ(run("y[i] = A[i,j] * x[j]", {{"A", 2, "csr"}, {"x", 1, "dense"}},
                {{"A", kA}, {"x", tensor({3}, {1, 10, 100})}}),
            "201 300");
}

TEST(Reference, ElementwisePatterns) {
  const std::vector<Operand> operands = {{"A", 2, "csr"}, {"B", 2, "csr"}};
  const Tensors tensors = {{"A", kA}, {"B", kB}};
  EXPECT_EQ(run("C[i,j] = A[i,j] + B[i,j]", operands, tensors), "11 20 2 _ _ 33");
  EXPECT_EQ(run("C[i,j] = A[i,j] - B[i,j]", operands, tensors), "-9 -20 2 _ _ -27");
  EXPECT_EQ(run("C[i,j] = A[i,j] * B[i,j]", operands, tensors), "10 _ _ _ _ 90");
}

TEST(Reference, ProductsStoreWhatSomeIndexReaches) {
  const Tensors tensors = {{"A", tensor({2, 2}, {1, 1, _, 2})},
                           {"B", tensor({2, 2}, {1, _, -1, _})}};
  EXPECT_EQ(run("C[i,k] = A[i,j] * B[j,k]", {{"A", 2, "csr"}, {"B", 2, "csr"}}, tensors),
            "0 _ -2 _");
}

TEST(Reference, SampledProductsHaveTheMasksEntries) {
  EXPECT_EQ(run("C[i,j] = A[i,j] * Q[i,d] * K[j,d]",
                {{"A", 2, "csr"}, {"Q", 2, "dense"}, {"K", 2, "dense"}},
                {{"A", kA}, {"Q", tensor({2, 1}, {1, 2})}, {"K", tensor({3, 1}, {0, 1, 5})}}),
            "0 _ 10 _ _ 30");
}

TEST(Reference, ExplicitZerosAreEntries) {
  EXPECT_EQ(run("C[i] = a[i] * 2", {{"a", 1, "coo"}}, {{"a", tensor({3}, {0, _, 1})}}), "0 _ 2");
}

TEST(Reference, AbsentTimesInfinityIsAbsentAndStoredZeroIsNot) {
  const Tensors tensors = {{"a", tensor({3}, {0, _, 2})}, {"x", tensor({3}, {kInf, kInf, kInf})}};
  const ResolvedProgram program =
      resolved("c[i] = a[i] * x[i]", {{"a", 1, "coo"}, {"x", 1, "dense"}});
  const ReferenceTensor result = evaluate(program, tensors).at("c");
  EXPECT_TRUE(std::isnan(result.floats[0]));
  EXPECT_FALSE(result.stored[1]);
  EXPECT_EQ(result.floats[1], 0);
  EXPECT_EQ(result.floats[2], kInf);
}

TEST(Reference, AnAbsentNumeratorStaysAbsent) {
  EXPECT_EQ(run("c[i] = a[i] / x[i]", {{"a", 1, "coo"}, {"x", 1, "dense"}},
                {{"a", tensor({3}, {1, _, 3})}, {"x", tensor({3}, {0, 0, 2})}}),
            "inf _ 1.5");
}

TEST(Reference, DividingByAnAbsentEntryDividesByZero) {
  EXPECT_EQ(run("c[i] = x[i] / a[i]", {{"a", 1, "coo"}, {"x", 1, "dense"}},
                {{"a", tensor({2}, {2, _})}, {"x", tensor({2}, {1, 1})}}),
            "0.5 inf");
}

TEST(Reference, FillsAreComputed) {
  EXPECT_EQ(run("C[i,j] = A[i,j] + 1", {{"A", 2, "csr"}}, {{"A", kA}}), "2 1 3 1 1 4");
}

TEST(Reference, EachTermIsSummedByItself) {
  EXPECT_EQ(run("y[i] = b[i] + A[i,j]", {{"A", 2, "csr"}, {"b", 1, "dense"}},
                {{"A", kA}, {"b", tensor({2}, {10, 20})}}),
            "13 23");
}

TEST(Reference, ASumOverNothingIsZero) {
  EXPECT_EQ(run("s = A[i,j]", {{"A", 2, "csr"}}, {{"A", tensor({2, 0}, {})}}), "0");
  EXPECT_EQ(run("y[i] = A[i,j]", {{"A", 2, "csr"}}, {{"A", tensor({2, 0}, {})}}), "0 0");
}

TEST(Reference, RepeatedIndices) {
  const Tensors tensors = {{"A", tensor({2, 2}, {1, 2, _, 4})}};
  EXPECT_EQ(run("y[i] = A[i,i]", {{"A", 2, "csr"}}, tensors), "1 4");
  EXPECT_EQ(run("s = A[i,i]", {{"A", 2, "csr"}}, tensors), "5");
}

TEST(Reference, IntegersWrapInTheirType) {
  EXPECT_EQ(run("c[i] = a[i] * a[i]", {{"a", 1, "i32 dense"}},
                {{"a", tensor({2}, {65536, 65537}, DType::Int32)}}),
            "0 131073");
  EXPECT_EQ(run("c[i] = a[i] * a[i]", {{"a", 1, "i64 dense"}},
                {{"a", tensor({1}, {65536}, DType::Int64)}}),
            "4294967296");
  EXPECT_EQ(
      run("s = a[i]", {{"a", 1, "i32 dense"}}, {{"a", tensor({2}, {2147483647, 1}, DType::Int32)}}),
      "-2147483648");
}

TEST(Reference, ABooleanProductIsReachability) {
  const ReferenceTensor a = tensor({2, 2}, {1, 1, _, 1}, DType::Bool);
  EXPECT_EQ(run("C[i,k] = A[i,j] * A[j,k]", {{"A", 2, "bool csr"}}, {{"A", a}}), "1 1 _ 1");
  EXPECT_EQ(run("s = A[i,j]", {{"A", 2, "bool csr"}}, {{"A", a}}), "1");
}

TEST(Reference, IntegersDivideTruly) {
  EXPECT_EQ(
      run("c[i] = a[i] / 2", {{"a", 1, "i64 dense"}}, {{"a", tensor({2}, {3, -4}, DType::Int64)}}),
      "1.5 -2");
}

TEST(Reference, ElementFunctions) {
  const Tensors tensors = {{"a", tensor({5}, {-1.5, _, 2.5, 3.5, 0})}};
  const std::vector<Operand> operands = {{"a", 1, "coo"}};
  EXPECT_EQ(run("c[i] = relu(a[i])", operands, tensors), "0 _ 2.5 3.5 0");
  EXPECT_EQ(run("c[i] = abs(a[i])", operands, tensors), "1.5 _ 2.5 3.5 0");
  EXPECT_EQ(run("c[i] = sign(a[i])", operands, tensors), "-1 _ 1 1 0");
  EXPECT_EQ(run("c[i] = square(a[i])", operands, tensors), "2.25 _ 6.25 12.25 0");
  EXPECT_EQ(run("c[i] = floor(a[i])", operands, tensors), "-2 _ 2 3 0");
  EXPECT_EQ(run("c[i] = round(a[i])", operands, tensors), "-2 _ 2 4 0");
  EXPECT_EQ(run("c[i] = -a[i]", operands, tensors), "1.5 _ -2.5 -3.5 -0");
}

TEST(Reference, ReluKeepsNan) {
  const ResolvedProgram program = resolved("c[i] = relu(a[i])", {{"a", 1, "dense"}});
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(std::isnan(evaluate(program, {{"a", tensor({1}, {nan})}}).at("c").floats[0]));
}

TEST(Reference, BlocksStoreTheirPadding) {
  const ReferenceTensor a = tensor({2, 4}, {1, 0, _, _, 0, 0, _, _});
  const ResolveOptions options = {.out_formats = {{"C", Format::parse("bsr(2,2)", 2)}}};
  EXPECT_EQ(run("C[i,j] = A[i,j]", {{"A", 2, "csr"}},
                {{"A", tensor({2, 4}, {1, _, _, _, _, _, _, _})}}, options),
            "1 0 _ _ 0 0 _ _");
  EXPECT_EQ(run("C[i,j] = A[i,j] * 2", {{"A", 2, "bsr(2,2)"}}, {{"A", a}}), "2 0 _ _ 0 0 _ _");
}

TEST(Reference, DenseLevelsBelowSparseOnesAreFull) {
  EXPECT_EQ(run("C[i,j] = a[i] * b[j]", {{"a", 1, "coo"}, {"b", 1, "dense"}},
                {{"a", tensor({2}, {_, 2})}, {"b", tensor({2}, {3, 0})}}),
            "_ _ 6 0");
}

TEST(Reference, ChainsOfStatements) {
  EXPECT_EQ(run("T[i,j] = A[j,i]; C[i,k] = T[i,j] * A[j,k]", {{"A", 2, "csr"}}, {{"A", kA}}),
            "1 _ 2 _ _ _ 2 _ 13");
}

TEST(Reference, ScalarsConvert) {
  EXPECT_EQ(run("c[i] = s * a[i]", {{"a", 1, "i32 coo"}, {"s", 0, "i64 dense"}},
                {{"a", tensor({2}, {3, _}, DType::Int32)}, {"s", tensor({}, {5}, DType::Int64)}}),
            "15 _");
}

TEST(Reference, MissingOperandsAreRefused) {
  EXPECT_THROW(run("c[i] = a[i]", {{"a", 1, "coo"}}, {}), UserError);
}

}  // namespace
}  // namespace tulle::expr
