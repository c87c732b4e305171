// Schedules on a GPU: an example of each step, and random ones.
#include <gtest/gtest.h>

#include "differential/bound_schedules.h"
#include "differential/random_case.h"

namespace tulle::differential {
namespace {

class BoundSchedule : public testing::TestWithParam<Bound> {};

TEST_P(BoundSchedule, IsRight) {
  const Case test = bound_case(GetParam(), 1);
  EXPECT_EQ(run_case(test, kOnGpu | kInGoodCode), "") << to_string(test);
}

INSTANTIATE_TEST_SUITE_P(Kept, BoundSchedule, testing::ValuesIn(bound_schedules()),
                         [](const auto& entry) { return entry.param.name; });

TEST(RandomSchedules, AreRightOrRefused) {
  constexpr uint64_t wanted = 300, first = 1000000;
  uint64_t drawn = 0;
  for (uint64_t seed = first; drawn < wanted; ++seed) {
    const Case test = random_case(seed);
    if (test.schedule.empty() || !test.gpu) continue;
    ++drawn;
    std::string refused;
    EXPECT_EQ(run_case(test, kOnGpu, &refused), "") << "seed " << seed << "\n" << to_string(test);
  }
}

}  // namespace
}  // namespace tulle::differential
