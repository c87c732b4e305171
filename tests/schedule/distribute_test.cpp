// Tests that assign steps to statements.
#include "schedule/distribute.h"

#include <gtest/gtest.h>

#include "tulle/error.h"

namespace tulle::schedule {
namespace {

constexpr const char* kProgram = "T[i,k] = A[i,j] * B[j,k]; C[i,l] = T[i,k] * D[k,l]";

// The schedules of the statements, separated by " | ".
std::string distributed(const std::string& program, const std::string& schedule) {
  std::vector<StatementNames> statements;
  for (const expr::Statement& statement : expr::parse_program(program).statements) {
    statements.push_back(names_of_statement(statement));
  }
  std::string text;
  for (const Schedule& each : distribute(parse_schedule(schedule), statements)) {
    text += (text.empty() ? "" : " | ") + (each.steps.empty() ? "-" : to_string(each));
  }
  return text;
}

void expect_error(const std::string& program, const std::string& schedule,
                  const std::string& message) {
  try {
    FAIL() << "accepted: " << distributed(program, schedule);
  } catch (const UserError& error) {
    EXPECT_EQ(std::string(error.what()), message);
  }
}

TEST(Distribute, PartsOfAStatementHaveNames) {
  const expr::ParsedProgram program =
      expr::parse_program("C[i] = A[i,j]; C.add1[i] = B[i,j]", expr::Writer::Compiler);
  std::vector<StatementNames> statements = {names_of_statement(program.statements[0]),
                                            names_of_statement(program.statements[1])};
  statements[0].part = part_name("C", 0);
  statements[1].part = statements[1].tensor;
  statements[1].result = "C";
  const auto steps_of = [&](const char* text) {
    std::vector<size_t> counts;
    for (const Schedule& each : distribute(parse_schedule(text), statements))
      counts.push_back(each.steps.size());
    return counts;
  };
  EXPECT_EQ(steps_of("C.add0: unroll(j, 2)"), (std::vector<size_t>{1, 0}));
  EXPECT_EQ(steps_of("C.add1: unroll(j, 2); parallel(i)"), (std::vector<size_t>{1, 2}));
  EXPECT_EQ(steps_of("C: unroll(j, 2)"), (std::vector<size_t>{1, 1}));
  const auto checked = [](const char* text) {
    return for_all_parts(parse_schedule(text).steps.front(), {"C"}).statement;
  };
  EXPECT_EQ(checked("C.add12: parallel(i)"), "C");
  EXPECT_EQ(checked("C_add1: parallel(i)"), "C_add1");
  EXPECT_EQ(checked("C.add: parallel(i)"), "C.add");
  EXPECT_EQ(checked("C.add1x: parallel(i)"), "C.add1x");
}

TEST(Distribute, StepsAreForTheStatementsThatHaveTheirIndices) {
  EXPECT_EQ(distributed(kProgram, "parallel(i)"), "parallel(i) | parallel(i)");
  EXPECT_EQ(distributed(kProgram, "unroll(j, 2); vectorize(l, 8)"),
            "unroll(j, 2) | vectorize(l, 8)");
  EXPECT_EQ(distributed(kProgram, "reorder(k, l)"), "- | reorder(k, l)");
  EXPECT_EQ(distributed(kProgram, ""), "- | -");
}

TEST(Distribute, StepsMayNameTheirStatement) {
  EXPECT_EQ(distributed(kProgram, "C: parallel(i)"), "- | C: parallel(i)");
  EXPECT_EQ(distributed(kProgram, "T: precompute(acc); parallel(i)"),
            "T: precompute(acc); parallel(i) | parallel(i)");
}

TEST(Distribute, LoopsThatStepsMakeAreKnown) {
  EXPECT_EQ(distributed(kProgram, "T: split(k, 4, k0, k1); unroll(k1, 0)"),
            "T: split(k, 4, k0, k1); unroll(k1, 0) | -");
  EXPECT_EQ(distributed(kProgram, "split(k, 4, k0, k1); C: unroll(k1, 0)"),
            "split(k, 4, k0, k1) | split(k, 4, k0, k1); C: unroll(k1, 0)");
  EXPECT_EQ(distributed("y[i] = A[i,j]", "reorder(i.outer, j.outer, i.inner, j.inner)"),
            "reorder(i.outer, j.outer, i.inner, j.inner)");
  EXPECT_EQ(distributed("y[i] = A[i,j]", "unroll(j.minus.i, 2)"), "unroll(j.minus.i, 2)");
}

TEST(Distribute, LoopsOfFormatsAreMeantWhereNothingElseIs) {
  constexpr const char* two = "C[i,k] = X[i,j] * B[j,k]; D[i,k] = X[i,j] * C[j,k]";
  EXPECT_EQ(distributed(two, "unroll(j.minus.i, 2)"),
            "unroll(j.minus.i, 2) | unroll(j.minus.i, 2)");
  EXPECT_EQ(distributed(two, "C: split(j, 4, j_o, j.minus.i); unroll(j.minus.i, 0)"),
            "C: split(j, 4, j_o, j.minus.i); unroll(j.minus.i, 0) | -");
}

TEST(Distribute, TensorsCountToo) {
  EXPECT_EQ(distributed(kProgram, "prefetch(T, 8); nontemporal(T)"),
            "nontemporal(T) | prefetch(T, 8)");
}

TEST(Distribute, RenamedIndicesKeepTheNameThatWasWritten) {
  const expr::ParsedProgram program = expr::parse_program("y[i] = A[i,j_1]");
  const std::vector<Schedule> found = distribute(
      parse_schedule("unroll(j, 2)"), {names_of_statement(program.statements[0], {{"j", "j_1"}})});
  EXPECT_EQ(to_string(found[0]), "unroll(j_1, 2)");
}

TEST(Distribute, RefusesIndicesThatNoStatementHas) {
  expect_error(kProgram, "parallel(i)\n  unroll( q, 2)",
               "schedule, line 2, column 11: no statement has the index 'q'; T has i, k, j; C has "
               "i, l, k\n"
               "    unroll( q, 2)\n"
               "            ^");
  expect_error("y[i] = A[i,j]", "precompute(acc, (i, k))",
               "schedule, line 1, column 21: the statement of 'y' does not have the index 'k'; it "
               "has i, j\n"
               "  precompute(acc, (i, k))\n"
               "                      ^");
}

TEST(Distribute, RefusesIndicesOfDifferentStatements) {
  expect_error(kProgram, "reorder(j, l)",
               "schedule, line 1, column 1: no single statement has all that this step names; T "
               "has i, k, j; C has i, l, k\n"
               "  reorder(j, l)\n"
               "  ^^^^^^^^^^^^^");
}

TEST(Distribute, RefusesStatementsThatAreNot) {
  expect_error(kProgram, "B: parallel(i)",
               "schedule, line 1, column 1: no statement assigns 'B'; they assign T, C\n"
               "  B: parallel(i)\n"
               "  ^");
  expect_error(kProgram, "T: unroll(l, 2)",
               "schedule, line 1, column 11: the statement of 'T' does not have the index 'l'; it "
               "has i, k, j\n"
               "  T: unroll(l, 2)\n"
               "            ^");
}

TEST(Distribute, AsksForTheStatementWhereNothingTells) {
  expect_error(kProgram, "precompute(acc)",
               "schedule, line 1, column 1: there are several statements; say which one this is "
               "for, T: precompute(acc) for instance\n"
               "  precompute(acc)\n"
               "  ^^^^^^^^^^^^^^^");
  EXPECT_EQ(distributed("y[i] = A[i,j]", "precompute(acc)"), "precompute(acc)");
}

}  // namespace
}  // namespace tulle::schedule
