// Runs the plans that the rules choose for a GPU on a GPU: the decisions are the same there, and
// light and optimised code give correct results.
#include "differential/default_plans.h"

#include <algorithm>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "differential/prepared.h"

namespace tulle::differential {
namespace {

// The decisions of a plan without its comments.
std::string decisions_in(const std::string& plan) {
  std::istringstream lines(plan);
  std::string decisions;
  for (std::string line; std::getline(lines, line) && !line.starts_with("==");) {
    line.erase(std::min(line.find('#'), line.size()));
    while (line.ends_with(' ')) line.pop_back();
    if (!line.empty()) decisions += line + "\n";
  }
  return decisions;
}

std::string decisions_on_gpu(const Case& test) {
  constexpr std::string_view kHead = "== plan ==\n";
  const std::string explained = explain_on_gpu(test);
  const size_t head = explained.find(kHead);
  if (head == std::string::npos) return "there is no plan in " + explained;
  return decisions_in(explained.substr(head + kHead.size()));
}

class DefaultPlan : public testing::TestWithParam<Planned> {};

TEST_P(DefaultPlan, IsRight) {
  const Case& test = GetParam().test;
  EXPECT_EQ(run_case(test, kOnGpu | kInGoodCode), "") << to_string(test);
  std::string planned;
  for (const std::string& line : plan_program(Prepared(test).request).lines) planned += line + "\n";
  EXPECT_EQ(decisions_on_gpu(test), decisions_in(planned)) << "on this GPU it is another plan";
}

INSTANTIATE_TEST_SUITE_P(OfGpu, DefaultPlan, testing::ValuesIn(default_plans()),
                         [](const auto& entry) { return entry.param.name; });

}  // namespace
}  // namespace tulle::differential
