// Reductions of the reference evaluator and their text, rule by rule.
#include <gtest/gtest.h>

#include "expr/fixture.h"
#include "tulle/error.h"

namespace tulle::expr {
namespace {

using Tensors = std::map<std::string, ReferenceTensor>;

std::string run(const std::string& program, const std::vector<Operand>& operands,
                const Tensors& tensors) {
  const ResolvedProgram resolved_program = resolved(program, operands);
  return entries(evaluate(resolved_program, tensors).at(resolved_program.results.at(0)));
}

//  1  _  2
//  _  _  _
// -1 -2 -3
const ReferenceTensor kA = tensor({3, 3}, {1, _, 2, _, _, _, -1, -2, -3});
const std::vector<Operand> kCsr = {{"A", 2, "csr"}};

TEST(Reductions, SeeTheWholeExtent) {
  EXPECT_EQ(run("y[i] = max(j, A[i,j])", kCsr, {{"A", kA}}), "2 0 -1");
  EXPECT_EQ(run("y[i] = min(j, A[i,j])", kCsr, {{"A", kA}}), "0 0 -3");
  EXPECT_EQ(run("y[i] = prod(j, A[i,j])", kCsr, {{"A", kA}}), "0 0 -6");
  EXPECT_EQ(run("y[i] = mean(j, A[i,j])", kCsr, {{"A", kA}}), "1 0 -2");
  EXPECT_EQ(run("y[i] = argmax(j, A[i,j])", kCsr, {{"A", kA}}), "2 0 0");
  EXPECT_EQ(run("y[i] = argmin(j, A[i,j])", kCsr, {{"A", kA}}), "1 0 2");
}

TEST(Reductions, SeeEntriesOnlyWhereAsked) {
  EXPECT_EQ(run("y[i] = max(j in A[i,j], A[i,j])", kCsr, {{"A", kA}}), "2 -inf -1");
  EXPECT_EQ(run("y[i] = min(j in A[i,j], A[i,j])", kCsr, {{"A", kA}}), "1 inf -3");
  EXPECT_EQ(run("y[i] = prod(j in A[i,j], A[i,j])", kCsr, {{"A", kA}}), "2 1 -6");
  EXPECT_EQ(run("y[i] = mean(j in A[i,j], A[i,j])", kCsr, {{"A", kA}}), "1.5 0 -2");
  EXPECT_EQ(run("y[i] = argmax(j in A[i,j], A[i,j])", kCsr, {{"A", kA}}), "2 -1 0");
  EXPECT_EQ(run("y[i] = max(j stored, A[i,j])", kCsr, {{"A", kA}}), "2 -inf -1");
  EXPECT_EQ(run("y[i] = sum(j in A[i,j], 1)", kCsr, {{"A", kA}}), "2 0 3");
}

TEST(Reductions, OverNothingHaveTheStatedValue) {
  EXPECT_EQ(run("y[i] = max(j in A[i,j], A[i,j], empty=7)", kCsr, {{"A", kA}}), "2 7 -1");
  EXPECT_EQ(run("y[i] = max(j in A[i,j], A[i,j], empty=0)", kCsr, {{"A", kA}}), "2 0 -1");
  EXPECT_EQ(run("y[i] = mean(j in A[i,j], A[i,j], empty=-1)", kCsr, {{"A", kA}}), "1.5 -1 -2");
  const Tensors empty = {{"A", tensor({2, 0}, {})}};
  EXPECT_EQ(run("y[i] = max(j, A[i,j])", kCsr, empty), "-inf -inf");
  EXPECT_EQ(run("y[i] = prod(j, A[i,j])", kCsr, empty), "1 1");
  EXPECT_EQ(run("y[i] = argmax(j, A[i,j])", kCsr, empty), "-1 -1");
}

TEST(Reductions, MasksAndChoices) {
  const Tensors tensors = {{"A", kA}, {"x", tensor({3}, {5, 6, 7})}};
  const std::vector<Operand> operands = {{"A", 2, "csr"}, {"x", 1, "dense"}};
  EXPECT_EQ(run("C[i,j] = within(A[i,j], x[j])", operands, tensors), "5 _ 7 _ _ _ 5 6 7");
  EXPECT_EQ(run("C[i,j] = max(A[i,j], -1)", kCsr, {{"A", kA}}), "1 0 2 0 0 0 -1 -1 -1");
  EXPECT_EQ(run("C[i,j] = where(A[i,j], x[j], -x[j])", operands, tensors), "5 -6 7 -5 -6 -7 5 6 7");
  EXPECT_EQ(run("C[i,j] = ones(A[i,j]) * index(j)", kCsr, {{"A", kA}}), "0 _ 2 _ _ _ 0 1 2");
  EXPECT_EQ(
      run("y[i] = max(s, A[i,j]) * x[j]", {{"A", 2, "csr"}, {"x", 1, "dense"}, {"s", 0, "dense"}},
          {{"A", kA}, {"x", tensor({3}, {1, 0, 0})}, {"s", tensor({}, {0.5})}}),
      "1 0.5 0.5");
}

TEST(Reductions, SoftmaxSumsToOneOverTheEntries) {
  const Tensors tensors = {{"A", tensor({2, 3}, {0, _, 0, _, _, _})}};
  EXPECT_EQ(run("C[i,j] = softmax(j in A[i,j], A[i,j])", kCsr, tensors), "0.5 _ 0.5 _ _ _");
  EXPECT_EQ(run("y[i] = softmax(j in A[i,j], A[i,j]) * ones(A[i,j])", kCsr, tensors), "1 0");
  EXPECT_EQ(run("y[i] = softmax(j, A[i,j]) * 3", kCsr, tensors), "3 3");
  EXPECT_EQ(run("y[i] = exp(logsumexp(j in A[i,j], A[i,j]))", kCsr, tensors), "2 0");
}

TEST(Reductions, PrintAsTheyParse) {
  for (const char* text :
       {"y[i] = max(j, A[i,j])", "y[i] = max(j in A[i,j], A[i,j] * x[j], empty=0.0)",
        "s = prod((i,j) in A[i,j], A[i,j])", "y[i] = mean(j stored, A[i,j])",
        "y[i] = where(x[i], max(x[i], 2), index(i) - extent(i))", "C[i,j] = within(A[i,j], 1)",
        "C[i,j] = softmax(j in A[i,j], A[i,j] * 2)", "C[i,j] = log_softmax(j stored, A[i,j])"}) {
    EXPECT_EQ(to_string(parse_program(text)), std::string(text) + "\n");
  }
}

TEST(Reductions, HaveTheTypesOfTorch) {
  const std::vector<Operand> integers = {{"A", 2, "i32 csr"}};
  EXPECT_EQ(resolved("y[i] = max(j, A[i,j])", integers).tensors.at("y").type, DType::Int32);
  EXPECT_EQ(resolved("y[i] = mean(j, A[i,j])", integers).tensors.at("y").type, DType::Float32);
  EXPECT_EQ(resolved("y[i] = argmax(j, A[i,j])", integers).tensors.at("y").type, DType::Int64);
}

TEST(Reductions, AreNotLinear) {
  EXPECT_THROW(resolved("y[i] = max(j, A[i,j] * B[j,k])", {{"A", 2, "csr"}, {"B", 2, "dense"}}),
               UserError);
  EXPECT_THROW(resolved("y[i] = max(A[i,j], 0)", kCsr), UserError);
}

}  // namespace
}  // namespace tulle::expr
