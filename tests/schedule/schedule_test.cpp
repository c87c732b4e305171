// The text of schedules, and applying them.
#include "schedule/schedule.h"

#include <gtest/gtest.h>

#include "schedule/nests.h"

namespace tulle::schedule {
namespace {

constexpr std::string_view kExample =
    "split(k, 64, k0, k1); reorder(i, k0, j, k1); parallel(i, by=nnz); vectorize(k1, 16); "
    "unroll(j, 2); prefetch(B, 16)";

void expect_syntax_error(std::string_view text, std::string_view part) {
  try {
    parse_schedule(text);
    FAIL() << "accepted: " << text;
  } catch (const UserError& error) {
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find('^'), std::string::npos) << error.what();
  }
}

TEST(ScheduleText, RoundTrips) {
  EXPECT_EQ(to_string(parse_schedule(kExample)), kExample);
  const std::string_view lists =
      "precompute(acc, (j, k)); precompute(b, ()); precompute(c, k, tracked)";
  EXPECT_EQ(to_string(parse_schedule(lists)), lists);
}

TEST(ScheduleText, TakesLineEndsAndNothing) {
  EXPECT_EQ(parse_schedule("\n nontemporal(C)\n\n unroll( j,2 );\n"),
            parse_schedule("nontemporal(C); unroll(j, 2)"));
  EXPECT_TRUE(parse_schedule("").steps.empty());
}

TEST(ScheduleText, RefusesUnknownRewrites) {
  expect_syntax_error("tile(k, 64)", "no rewrite 'tile'; they are split");
}

TEST(ScheduleText, RefusesMissingParentheses) { expect_syntax_error("unroll j", "expected '('"); }

TEST(ScheduleText, RefusesMissingSeparators) {
  expect_syntax_error("unroll(j, 2) unroll(k, 2)", "expected ';'");
}

TEST(ScheduleText, RefusesOtherArguments) {
  expect_syntax_error("unroll(j, [)", "a name, a number or (names)");
}

// Wrong arguments are refused without a nest.
TEST(ScheduleText, RefusesNumbersOutOfRange) {
  for (const char* step : {"split(k, 0, a, b)",
                           "split(k, -3, a, b)",
                           "split(k, 4294967296, a, b)",
                           "split_positions(j, 0, a, b)",
                           "split_rows(i, 0, c, r)",
                           "split_rows(i, 8, c, r, 0)",
                           "deal_rows(i, 0, c, r, 4, 4)",
                           "deal_rows(i, 8, c, r, 0, 4)",
                           "deal_rows(i, 8, c, r, 4, 32769)",
                           "split_entries(i, j, 0, c, e)",
                           "vectorize(k, 0)",
                           "vectorize(k, 6)",
                           "vectorize(k, -9223372036854775807)",
                           "unroll(j, 1)",
                           "unroll(j, 129)",
                           "unroll(j, -1)",
                           "prefetch(B, 0)",
                           "prefetch(B, 2000)",
                           "stage(B, j, registers, 0)",
                           "stage(B, j, shared, 9)"}) {
    expect_syntax_error(step, "was given; write ");
  }
}

TEST(ScheduleText, RefusesANameTwice) {
  for (const char* step :
       {"split(k, 4, a, a)", "split(k, 4, k, a)", "split_positions(j, 4, a, a)",
        "split_rows(i, 8, c, c)", "deal_rows(i, 8, c, c, 4, 4)", "split_entries(i, i, 8, c, e)",
        "fuse(i, i, f)", "fuse(i, j, i)", "reorder(i, j, i)", "precompute(acc, (k, k))",
        "precompute(k, k)", "rfactor(j, j)", "number_rows(i, i)"}) {
    expect_syntax_error(step, "stands twice, and the names in a step differ; write ");
  }
}

TEST(Apply, RunsTheExample) {
  EXPECT_EQ(body_after(kSpmm, kExample),
            "forall i parallel(nnz) { forall k0 { forall j unrolled(2) { forall k1 vector(16) { "
            "C[i,k] += A[i,j] * B[j,k] } } } }");
}

TEST(Apply, RunsTheExampleWithAnAccumulator) {
  EXPECT_EQ(body_after(kSpmm,
                       "split(k, 64, k0, k1); reorder(i, k0, j, k1); precompute(acc, k1); "
                       "parallel(i, by=nnz); vectorize(k1, 16)"),
            "forall i parallel(nnz) { forall k0 { where acc { forall k1 vector(16) { C[i,k] = "
            "acc[k1] } } "
            "producing { forall j { forall k1 vector(16) { acc[k1] += A[i,j] * B[j,k] } } } } }");
}

TEST(Apply, LeavesTheNestItWasGiven) {
  const nest::Nest nest = nest::parse_nest(kSpmm);
  const std::string before = nest::to_string(nest);
  apply(parse_schedule(kExample), nest);
  EXPECT_EQ(nest::to_string(nest), before);
}

TEST(Apply, PointsAtTheStep) {
  try {
    apply(parse_schedule("unroll(j, 2); split(q, 4, a, b); nontemporal(C)"),
          nest::parse_nest(kSpmm));
    FAIL();
  } catch (const UserError& error) {
    EXPECT_STREQ(error.what(),
                 "schedule, line 1, column 15: There is no loop over 'q'; the "
                 "loops are i, j, k.\n"
                 "  unroll(j, 2); split(q, 4, a, b); nontemporal(C)\n"
                 "                ^^^^^^^^^^^^^^^^^");
  }
}

TEST(Apply, RefusesTooFewArguments) {
  expect_refused(kSpmm, "split(k, 64)", "does not take 2 arguments; write split(k");
}

TEST(Apply, RefusesArgumentsOfAnotherKind) {
  expect_refused(kSpmm, "unroll(j, k)", "argument 2 should be a number");
}

TEST(Apply, RefusesUnknownKeywords) {
  expect_refused(kSpmm, "unroll(j, 2, by=rows)", "has no argument 'by'");
}

TEST(Apply, RefusesUnknownChoices) {
  expect_refused(kSpmm, "parallel(i, by=columns)", "no such value");
}

TEST(Apply, RefusesUnknownWords) {
  expect_refused(kSpmm, "precompute(acc, k, hashed)", "argument 3 should be 'tracked'");
}

}  // namespace
}  // namespace tulle::schedule
