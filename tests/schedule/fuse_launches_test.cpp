// Tests of kernels that share a launch.
#include "schedule/rewrites/fuse_launches.h"

#include <gtest/gtest.h>

#include "support/check.h"

namespace tulle::schedule {
namespace {

constexpr std::string_view kBound = "split(i, 4, ib, it); bind(ib, block); bind(it, thread)";

std::string row_sum(std::string_view result, std::string_view operand, std::string_view more,
                    std::string_view steps, std::string_view sum = "+=") {
  return concat("nest {\n operand ", operand, ": f32, i32, csr\n result ", result, ": f32", more,
                ", dense\n forall i { forall j { ", result, "[i] ", sum, " ", operand,
                "[i,j] } } }\nschedule: ", steps, "\n");
}

std::vector<LaunchGroup> groups_of(std::string_view operands, std::string_view results,
                                   const std::string& nests) {
  return launch_groups(
      apply(parse_program(concat("program(", operands, "; i, j) -> (", results, ")\n", nests))));
}

void expect_refused(const std::string& nests, std::string_view why) {
  try {
    groups_of("A, B", "y", nests);
    ADD_FAILURE() << "not refused";
  } catch (const UserError& error) {
    EXPECT_NE(std::string(error.what()).find(why), std::string::npos) << error.what();
  }
}

std::string with(std::string_view steps, std::string_view statement) {
  return concat(steps, "; fuse_launches(", statement, ")");
}

TEST(FuseLaunches, TakesPartsOfASum) {
  const auto groups =
      groups_of("A, B", "y",
                row_sum("y", "A", "", kBound) + row_sum("z", "B", ", onto y", with(kBound, "y")));
  ASSERT_EQ(groups.size(), 1U);
  EXPECT_EQ(groups[0].steps, (std::vector<size_t>{0, 1}));
  EXPECT_TRUE(groups[0].shares_result);
}

TEST(FuseLaunches, TakesStatementsThatHaveNothingInCommon) {
  const auto groups = groups_of(
      "A, B", "y, z", row_sum("y", "A", "", kBound) + row_sum("z", "B", "", with(kBound, "y")));
  ASSERT_EQ(groups.size(), 1U);
  EXPECT_FALSE(groups[0].shares_result);
}

TEST(FuseLaunches, LeavesStatementsAlone) {
  EXPECT_TRUE(
      groups_of("A, B", "y, z", row_sum("y", "A", "", kBound) + row_sum("z", "B", "", kBound))
          .empty());
}

TEST(FuseLaunches, RefusesToFuseWithNothing) {
  expect_refused(row_sum("y", "A", "", with(kBound, "y")) + row_sum("z", "B", "", kBound),
                 "Nothing is launched together with 'y'");
}

TEST(FuseLaunches, StaysInTheTextOfFinishedNests) {
  const NestProgram finished =
      apply(parse_program(concat("program(A, B; i, j) -> (y, z)\n", row_sum("y", "A", "", kBound),
                                 row_sum("z", "B", "", with(kBound, "y")))));
  const std::string text = to_string(finished);
  EXPECT_NE(text.find("schedule: fuse_launches(y)"), std::string::npos) << text;
  EXPECT_EQ(to_string(apply(parse_program(text))), text);
}

TEST(FuseLaunches, RefusesNestsThatAreNotBound) {
  expect_refused(row_sum("y", "A", "", kBound) +
                     row_sum("z", "B", ", onto y", "parallel(i); fuse_launches(y)"),
                 "are not bound to the blocks of a GPU");
}

TEST(FuseLaunches, RefusesWhatDependsOnTheOther) {
  expect_refused(row_sum("x", "A", "", kBound) +
                     concat("nest {\n operand x: f32\n operand B: f32, i32, csr\n result y: f32\n "
                            "forall i { forall j { y[i] += x[i] * B[i,j] } } }\nschedule: ",
                            with(kBound, "x"), "\n"),
                 "is computed from 'x'");
}

TEST(FuseLaunches, TakesPartsOfAMaximum) {
  const auto groups =
      groups_of("A, B", "y",
                row_sum("y", "A", "", kBound, "max=") +
                    row_sum("z", "B", ", onto y, by max", with(kBound, "y"), "max="));
  ASSERT_EQ(groups.size(), 1U);
  EXPECT_TRUE(groups[0].shares_result);
}

TEST(FuseLaunches, RefusesResultsThatArePutTogetherInTwoWays) {
  expect_refused(
      row_sum("y", "A", "", kBound, "max=") + row_sum("z", "B", ", onto y", with(kBound, "y")),
      "'y' is combined by max= and 'z' by +=");
  expect_refused(row_sum("y", "A", "", kBound, "max=") +
                     row_sum("z", "B", ", onto y, by max", with(kBound, "y")),
                 "'z' accumulates by += and is combined by max=");
}

TEST(FuseLaunches, RefusesWarpsInBlocksOfOtherThreads) {
  constexpr std::string_view threads = "split(i, 125, ib, it); bind(ib, block); bind(it, thread)";
  constexpr std::string_view warps = "split(i, 2, ib, iw); bind(ib, block); bind(iw, warp)";
  expect_refused(row_sum("y", "A", "", threads) + row_sum("z", "B", ", onto y", with(warps, "y")),
                 "The blocks of 'z' consist of warps, and those of 'y' have 125 threads");
  expect_refused(row_sum("y", "A", "", warps) + row_sum("z", "B", ", onto y", with(threads, "y")),
                 "The blocks of 'y' consist of warps");
  constexpr std::string_view fewer = "split(i, 33, ib, it); bind(ib, block); bind(it, thread)";
  EXPECT_EQ(
      groups_of("A, B", "y",
                row_sum("y", "A", "", fewer) + row_sum("z", "B", ", onto y", with(warps, "y")))
          .size(),
      1U);
}

TEST(FuseLaunches, RefusesStatementsThatAreNotRightBefore) {
  expect_refused(row_sum("x", "A", "", kBound) + row_sum("w", "A", "", kBound) +
                     row_sum("y", "B", "", with(kBound, "x")),
                 "'x' is not computed right before 'y'");
}

}  // namespace
}  // namespace tulle::schedule
