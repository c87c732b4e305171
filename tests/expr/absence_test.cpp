// What is left of expressions where operands are absent.
#include "expr/absence.h"

#include <gtest/gtest.h>

#include "expr/fixture.h"

namespace tulle::expr {
namespace {

struct Case {
  const char* value;
  const char* absent;  // one-letter names
  const char* rest;
};

class Absence : public testing::TestWithParam<Case> {};

TEST_P(Absence, Folds) {
  const Program program = parse_program(std::string("out = ") + GetParam().value);
  const std::string names = GetParam().absent;
  const Expr rest = without(program.statements[0].value, [&](const Access& access) {
    return names.find(access.tensor) != std::string::npos;
  });
  EXPECT_EQ(to_string(rest), GetParam().rest);
  EXPECT_EQ(is_zero(rest), std::string(GetParam().rest) == "0");
}

INSTANTIATE_TEST_SUITE_P(
    Rules, Absence,
    testing::Values(Case{"A * x", "A", "0"}, Case{"x * A", "A", "0"}, Case{"A * x", "", "A * x"},
                    Case{"A + B", "A", "B"}, Case{"A + B", "AB", "0"}, Case{"A - B", "B", "A"},
                    Case{"A - B", "A", "0 - B"}, Case{"A / x", "A", "0"},
                    Case{"x / A", "A", "x / 0"}, Case{"A / B", "AB", "0"}, Case{"-A", "A", "0"},
                    Case{"relu(A)", "A", "0"}, Case{"relu(A + B)", "A", "relu(B)"},
                    Case{"sum(j, A[j] * x[j])", "A", "0"},
                    Case{"sum(j, A[j] + x[j])", "A", "sum(j, x[j])"}, Case{"A + 1", "A", "1"},
                    Case{"(A + B) * C", "A", "B * C"}, Case{"(A + B) * C", "AB", "0"},
                    Case{"A * B + C", "B", "C"}, Case{"0 * x", "", "0 * x"}));

TEST(Absence, WhatIsLeftKeepsTheTypeOfTheSum) {
  const ResolvedProgram program =
      resolved("C[i] = A[i] + b[i]", {{"A", 1, "f32 coo"}, {"b", 1, "i64 dense"}});
  const Expr rest = without(program.statements[0].value,
                            [](const Access& access) { return access.tensor == "A"; });
  EXPECT_EQ(rest.type(), DType::Float32);
  EXPECT_EQ(to_string(rest), "b[i] * 1");
}

}  // namespace
}  // namespace tulle::expr
