// The interpreter runs the plans that the rules choose for a GPU: correct results, no races and no
// out-of-bounds accesses.
#include "differential/default_plans.h"

#include <set>

#include <gtest/gtest.h>

#include "differential/prepared.h"
#include "plan/gpu/rules.h"

namespace tulle::differential {
namespace {

class DefaultPlan : public testing::TestWithParam<Planned> {};

TEST_P(DefaultPlan, IsRight) {
  const Case& test = GetParam().test;
  EXPECT_EQ(run_case(test, kInterpreted), "") << to_string(test);
}

INSTANTIATE_TEST_SUITE_P(OfGpu, DefaultPlan, testing::ValuesIn(default_plans()),
                         [](const auto& entry) { return entry.param.name; });

TEST(DefaultPlans, FollowEveryRule) {
  plan::GpuRules followed;
  for (const Planned& planned : default_plans())
    followed.merge(plan_program(Prepared(planned.test).request).rules);
  for (size_t rule = 0; rule < std::size(plan::kGpuRules); ++rule) {
    EXPECT_TRUE(followed.contains(static_cast<plan::GpuRule>(rule)))
        << "no case of tests/differential/default_plans.cpp follows " << plan::kGpuRules[rule];
  }
}

TEST(DefaultPlans, HaveNamesOfTheirOwnAndTexts) {
  std::set<std::string> names;
  for (const Planned& planned : default_plans()) {
    EXPECT_TRUE(names.insert(planned.name).second) << planned.name;
    const std::string text = to_string(planned.test);
    EXPECT_EQ(to_string(parse_case(text)), text);
  }
}

}  // namespace
}  // namespace tulle::differential
