// Statements over composite operands become statements over the parts.
#include "plan/rewrite/decompose.h"

#include <gtest/gtest.h>

#include "expr/print.h"

namespace tulle::plan {
namespace {

expr::TensorType type_of(const std::string& format, int rank) {
  return {DType::Float32, DType::Int32, Format::parse(format, rank)};
}

// A is a composite of dell(2) and csr parts, P of blocks and csr, M of booleans. B is dense, D csr,
// x and b are vectors.
UniqueProgram decomposed(std::string_view text) {
  const std::map<std::string, expr::TensorType> types = {
      {"A", type_of("csr", 2)},
      {"B", type_of("dense", 2)},
      {"D", type_of("csr", 2)},
      {"x", type_of("dense", 1)},
      {"P", type_of("csr", 2)},
      {"b", type_of("dense", 1)},
      {"M", {DType::Bool, DType::Int32, Format::parse("csr", 2)}},
  };
  const Composites composites = {
      {"A", {{"A.part0", type_of("dell(2)", 2)}, {"A.part1", type_of("csr", 2)}}},
      {"P", {{"P.part0", type_of("bsr(2,2)", 2)}, {"P.part1", type_of("csr", 2)}}},
      {"M", {{"M.part0", types.at("M")}, {"M.part1", types.at("M")}}}};
  return decompose(with_unique_indices(expr::resolve(expr::parse_program(text), types)),
                   composites);
}

std::string statements_of(std::string_view text) {
  std::string found;
  for (const expr::Statement& statement : decomposed(text).program.statements) {
    found += statement.tensor + (statement.adds_to.empty() ? "" : " onto " + statement.adds_to) +
             " = " + expr::to_string(statement.value) + "\n";
  }
  return found;
}

TEST(Decompose, ProductsAreDistributed) {
  EXPECT_EQ(statements_of("C[i,k] = A[i,j] * B[j,k]"),
            "C = sum(j, A.part0[i,j] * B[j,k])\n"
            "C.add1 onto C = sum(j, A.part1[i,j] * B[j,k])\n");
  EXPECT_EQ(statements_of("s = A[i,j]"),
            "s = sum((i,j), A.part0[i,j])\n"
            "s.add1 onto s = sum((i,j), A.part1[i,j])\n");
  EXPECT_EQ(statements_of("y[i] = sum(j, A[i,j] * x[j]) - 2 * sum(j, relu(A[i,j]))"),
            "y = sum(j, A.part0[i,j] * x[j]) - 2 * sum(j, relu(A.part0[i,j]))\n"
            "y.add1 onto y = sum(j, A.part1[i,j] * x[j]) - 2 * sum(j, relu(A.part1[i,j]))\n");
}

TEST(Decompose, WhatIsNoSumOverPartsTakesThemTogether) {
  const std::string whole =
      "A.whole = A.part0[A.whole.0,A.whole.1] + A.part1[A.whole.0,A.whole.1]\n";
  EXPECT_EQ(statements_of("y[i] = sum(j, relu(sum(k, A[i,k] * B[k,j])))"),
            whole + "y = sum(j, relu(sum(k, A.whole[i,k] * B[k,j])))\n");
  EXPECT_EQ(statements_of("y[i] = sum(j, A[i,j]) * sum(j, A[i,j])"),
            whole + "y = sum(j, A.whole[i,j]) * sum(j, A.whole[i,j])\n");
  // Sparse results have one pattern.
  EXPECT_EQ(statements_of("C[i,j] = A[i,j] * D[i,j]"), whole + "C = A.whole[i,j] * D[i,j]\n");
}

TEST(Decompose, SumsWithinLargerExpressionsAreDistributed) {
  EXPECT_EQ(statements_of("y[i] = relu(b[i] + sum(j, A[i,j] * x[j]))"),
            "y.term0 = sum(j, A.part0[i,j] * x[j])\n"
            "y.term0.add1 onto y.term0 = sum(j, A.part1[i,j] * x[j])\n"
            "y = relu(b[i] + y.term0[i])\n");
  // An absent numerator is not 0.
  EXPECT_NE(statements_of("y[i] = sum(j, A[i,j]) / sum(j, relu(A[i,j]))").find("A.whole"),
            std::string::npos);
}

TEST(Decompose, PaddingOfPartsIsNotShown) {
  const auto is_whole = [](const std::string& text) {
    return statements_of(text).find(".whole") != std::string::npos;
  };
  for (const char* told :
       {"y[i] = sum(j, #[i,j] / x[j])", "y[i] = sum(j, -(#[i,j] / b[i]) / 2)",
        "y[i] = sum(j, #[i,j] * log(x[j]))", "y[i] = sum(j, within(#[i,j], x[j]))",
        "y[i] = sum(j, ones(#[i,j]))", "t[j] = b[j] / x[j]; y[i] = sum(j, #[i,j] * t[j])"}) {
    std::string text(told);
    text.replace(text.find('#'), 1, "P");
    EXPECT_TRUE(is_whole(text)) << text;
    text.replace(text.find("P["), 1, "A");
    EXPECT_FALSE(is_whole(text)) << text;
  }
  for (const char* quiet : {"y[i] = sum(j, P[i,j] * x[j])", "y[i] = sum(j, relu(P[i,j]) / 2)",
                            "y[i] = sum(j, where(P[i,j], x[j], 0))"}) {
    EXPECT_FALSE(is_whole(quiet)) << quiet;
  }
}

TEST(Decompose, SumsOverPartsMeetNoInfinities) {
  // (2 - 1) times infinity is infinite, but 2 times infinity minus infinity is NaN.
  EXPECT_NE(statements_of("t[i] = b[i] / x[i]; y[i] = t[i] * sum(j, A[i,j])").find("A.whole"),
            std::string::npos);
}

TEST(Decompose, ManyPartsAreMergedInRounds) {
  const std::map<std::string, expr::TensorType> types = {{"A", type_of("csr", 2)}};
  Composites composites;
  for (int part = 0; part < 7; ++part) {
    composites["A"].push_back({"A.part" + std::to_string(part), type_of("csr", 2)});
  }
  const expr::ParsedProgram parsed = expr::parse_program("C[i,j] = 2 * A[i,j]");
  const UniqueProgram program =
      decompose(with_unique_indices(expr::resolve(parsed, types)), composites);
  std::string merged;
  for (const expr::Statement& statement : program.program.statements) {
    merged += statement.tensor + ":";
    for (const expr::Access* access : expr::accesses(statement.value)) {
      merged += " " + access->tensor;
    }
    merged += "\n";
  }
  EXPECT_EQ(merged,
            "A.whole0: A.part0 A.part1 A.part2\n"
            "A.whole1: A.part3 A.part4 A.part5\n"
            "A.whole: A.whole0 A.whole1 A.part6\n"
            "C: A.whole\n");
}

TEST(Decompose, SumsOfBooleansAreNoSumsOverPartsOnceTheyAreNumbers) {
  // The sum of booleans is `or`.
  EXPECT_NE(statements_of("y[i] = sum(j, M[i,j]) * b[i]").find("M.whole"), std::string::npos);
  EXPECT_EQ(statements_of("y[i] = sum(j, M[i,j] * x[j])"),
            "y = sum(j, M.part0[i,j] * x[j])\n"
            "y.add1 onto y = sum(j, M.part1[i,j] * x[j])\n");
  EXPECT_EQ(statements_of("y[i] = sum(j, M[i,j])"),
            "y = sum(j, M.part0[i,j])\ny.add1 onto y = sum(j, M.part1[i,j])\n");
}

TEST(Decompose, OtherUsesOfTheOperandSeeAllOfIt) {
  const UniqueProgram program = decomposed("s = A[i,j] * A[j,i]; t = A[i,j] * A[i,j]");
  std::string found;
  for (const auto& statement : program.program.statements) {
    found += expr::to_string(statement.value) + "\n";
  }
  EXPECT_EQ(found,
            "A.part0[A.whole.0,A.whole.1] + A.part1[A.whole.0,A.whole.1]\n"
            "sum((i,j), A.part0[i,j] * A.whole[j,i])\n"
            "sum((i,j), A.part1[i,j] * A.whole[j,i])\n"
            "sum((i,j), A.part0[i,j] * A.part0[i,j])\n"
            "sum((i,j), A.part1[i,j] * A.part1[i,j])\n");
}

TEST(Decompose, PartsAreOperands) {
  const UniqueProgram program = decomposed("C[i,k] = A[i,j] * B[j,k]");
  EXPECT_EQ(program.program.operands, (std::vector<std::string>{"A.part0", "A.part1", "B"}));
  EXPECT_FALSE(program.program.tensors.contains("A"));
  EXPECT_EQ(program.extents.at("i").front().tensor, "A.part0");
  EXPECT_EQ(program.program.results, std::vector<std::string>{"C"});
  EXPECT_EQ(program.notes.front(), "C is the sum over the 2 parts of A");
}

}  // namespace
}  // namespace tulle::plan
