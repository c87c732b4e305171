// The plans that are chosen for a GPU, on a GPU: the same there, and right in light and good code.
#include "differential/default_plans.h"

#include <set>

#include <gtest/gtest.h>

#include "differential/prepared.h"
#include "plan/gpu_rules.h"

namespace tulle::differential {
namespace {

class DefaultPlan : public testing::TestWithParam<Planned> {};

TEST_P(DefaultPlan, IsRight) {
  const Case& test = GetParam().test;
  plan::followed_rules().clear();
  EXPECT_EQ(run_case(test, kOnGpu | kInGoodCode), "") << to_string(test);
  const std::set<plan::GpuRule> followed = plan::followed_rules();
  plan::followed_rules().clear();
  const Prepared ready(test);
  lower_program(ready.request);
  for (const plan::GpuRule rule : plan::followed_rules()) {
    EXPECT_TRUE(followed.contains(rule))
        << "on this GPU the plan does not follow " << plan::kGpuRules[static_cast<size_t>(rule)];
  }
}

INSTANTIATE_TEST_SUITE_P(OfGpu, DefaultPlan, testing::ValuesIn(default_plans()),
                         [](const auto& entry) { return entry.param.name; });

}  // namespace
}  // namespace tulle::differential
