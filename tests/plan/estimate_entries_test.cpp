// Estimates of the entries of results.
#include "plan/order/estimate_entries.h"

#include <gtest/gtest.h>

namespace tulle::plan {
namespace {

// The estimate for the first statement, with 1000 coordinates along each index, and 5000 entries in
// A and B, which are csr.
double estimated(std::string_view text) {
  std::map<std::string, expr::TensorType> types;
  const auto add = [&](const std::string& name, const std::string& format, int rank) {
    types[name] = {DType::Float32, DType::Int32, Format::parse(format, rank)};
  };
  add("A", "csr", 2);
  add("B", "csr", 2);
  add("X", "dense", 2);
  add("T", "dense", 3);
  const expr::ResolvedProgram program = expr::resolve(expr::parse_program(text), types);
  Estimates estimates;
  for (const char* index : {"i", "j", "k", "h"}) estimates.set_extent(index, 1000);
  estimates.set_count("A", 5000);
  estimates.set_count("B", 5000);
  return estimate_entries(program.statements[0], program.tensors, estimates);
}

TEST(EstimateEntries, AResultWithTheEntriesOfAnOperandHasTheirNumber) {
  EXPECT_NEAR(estimated("C[i,j] = 2 * A[i,j]"), 5000, 1);
  EXPECT_NEAR(estimated("C[j,i] = A[i,j] * X[i,j]"), 5000, 1);
  EXPECT_NEAR(estimated("C[i,j] = within(A[i,j], exp(X[i,j]))"), 5000, 1);
  EXPECT_NEAR(estimated("C[i,j] = softmax(j in A[i,j], A[i,j])"), 5000, 1);
}

TEST(EstimateEntries, EachEntryHasAllCoordinatesOfADenseIndex) {
  EXPECT_NEAR(estimated("C[i,j,h] = within(A[i,j], T[i,j,h])"), 5000 * 1000, 1000);
}

TEST(EstimateEntries, SumsAndProductsOfTwoOperands) {
  EXPECT_NEAR(estimated("C[i,j] = A[i,j] + B[i,j]"), 5000, 1);
  EXPECT_NEAR(estimated("C[i,j] = A[i,j] * B[i,j]"), 5000, 1);
  // 5 entries in each row of both.
  EXPECT_NEAR(estimated("C[i,k] = A[i,j] * B[j,k]"), 25000, 500);
}

TEST(EstimateEntries, ReductionsHaveAtMostOneEntryForEachCoordinate) {
  EXPECT_NEAR(estimated("y[i] = A[i,j]"), 993, 2);  // e^-5 of the rows are empty
  EXPECT_NEAR(estimated("y[i] = max(j, A[i,j])"), 1000, 1);
  EXPECT_NEAR(estimated("C[i,j] = exp(A[i,j])"), 1e6, 1);
}

}  // namespace
}  // namespace tulle::plan
