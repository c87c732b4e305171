// Expressions folded for absent operands.
#include "expr/absence.h"

#include <set>

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
  const ParsedProgram program = parse_program(std::string("out = ") + GetParam().value);
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

// The operands whose absence a value distinguishes from 0, in order of their names.
std::string told_in(const std::string& value, bool counts = false) {
  const ParsedProgram program = parse_program("out = " + value);
  std::set<std::string> names;
  find_told(program.statements[0].value,
            {[](const std::string&) { return false; }, [&](const Expr&) { return counts; }}, false,
            [&](const Expr& leaf) {
              if (const auto* access = leaf.as<Access>()) names.insert(access->tensor);
            });
  std::string all;
  for (const std::string& name : names) all += name;
  return all;
}

TEST(Absence, ShowsInNumerators) {
  EXPECT_EQ(told_in("A"), "");
  EXPECT_EQ(told_in("A * x"), "");
  EXPECT_EQ(told_in("relu(A - B)"), "");
  EXPECT_EQ(told_in("A / x"), "A");
  EXPECT_EQ(told_in("relu(A + B) / x"), "AB");
  EXPECT_EQ(told_in("1 + A / x"), "A");
  EXPECT_EQ(told_in("(A + 1) / x"), "");   // a literal operand always gives a value
  EXPECT_EQ(told_in("A * (1 / x)"), "A");  // 1 / x may be infinite
}

TEST(Absence, ShowsInDenominatorsThatHaveASign) {
  EXPECT_EQ(told_in("1 / A"), "");
  EXPECT_EQ(told_in("1 / (A + B)"), "");
  EXPECT_EQ(told_in("1 / relu(A)"), "");
  EXPECT_EQ(told_in("1 / -A"), "A");
  EXPECT_EQ(told_in("1 / relu(-A)"), "A");
  EXPECT_EQ(told_in("1 / (A * -2)"), "A");
  EXPECT_EQ(told_in("1 / (A - B)"), "AB");
  EXPECT_EQ(told_in("1 / (-A + 1)"), "");
}

TEST(Absence, DoesNotShowWhereACountChooses) {
  EXPECT_EQ(told_in("where(x, A / y, B / y)"), "AB");
  EXPECT_EQ(told_in("where(x, A / y, B / y)", true), "B");
}

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
