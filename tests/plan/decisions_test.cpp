// The text of decisions.
#include "plan/decisions.h"

#include <gtest/gtest.h>

#include "tulle/error.h"

namespace tulle::plan {
namespace {

void expect_refused(std::string_view text, std::string_view part) {
  std::string message = "no error";
  try {
    parse_decisions(text);
  } catch (const UserError& error) {
    message = error.what();
  }
  EXPECT_NE(message.find(part), std::string::npos) << message;
}

TEST(Decisions, AreReadInTheOrderOfTheText) {
  Decisions decisions = parse_decisions(R"(
# why
C: loops i j  # and what follows
schedule: none
y: loops
C: loops j i
schedule: parallel(j); unroll(i, 2)  # twice
)");
  const std::optional<Decision> first = decisions.take("C");
  ASSERT_TRUE(first && first->schedule);
  EXPECT_EQ(loops_line("C", first->order), "C: loops i j");
  EXPECT_EQ(schedule_line(*first->schedule), "schedule: none");
  const std::optional<Decision> second = decisions.take("C");
  ASSERT_TRUE(second && second->schedule);
  EXPECT_EQ(schedule_line(*second->schedule), "schedule: parallel(j); unroll(i, 2)");
  EXPECT_FALSE(decisions.take("C"));
  EXPECT_THROW(decisions.require_all_taken(), UserError);
  const std::optional<Decision> scalar = decisions.take("y");
  ASSERT_TRUE(scalar);
  EXPECT_TRUE(scalar->order.empty());
  EXPECT_FALSE(scalar->schedule);
  decisions.require_all_taken();
}

TEST(Decisions, PointAtMistakes) {
  expect_refused("C: lops i j", "line 1, column 4: expected loops and their names, found 'lops'");
  expect_refused("C: loops i, j", "line 1, column 11: expected a loop, found ','");
  expect_refused("schedule: none", "a schedule must directly follow its loops");
  expect_refused("C: loops i\nschedule: none\nschedule: none", "line 3, column 1: a schedule");
  expect_refused("C: loops i\nschedule: none of it", "expected the end of the line, found 'of'");
  expect_refused("C: loops i\nschedule: unrol(i, 2)", "schedule, line 2, column 11");
}

}  // namespace
}  // namespace tulle::plan
