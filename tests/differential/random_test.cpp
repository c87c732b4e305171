// Random programs, and cases that failed before.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

#include <gtest/gtest.h>

#include "differential/random_case.h"

namespace tulle::differential {
namespace {

// As many as for each mutant (mutants_test.cpp). All of them pass here, so that a failure there is
// due to the fault.
constexpr uint64_t kInterpretedPrograms = 2000, kCompiledPrograms = 400;

// TULLE_TEST_PROGRAMS sets another number.
uint64_t number_of_programs(uint64_t usual) {
  const char* asked = std::getenv("TULLE_TEST_PROGRAMS");
  return asked ? std::stoull(asked) : usual;
}

void expect_agreement(uint64_t count, Engines engines) {
  uint64_t refusals = 0;
  for (uint64_t seed = 0; seed < count; ++seed) {
    const Case test = random_case(seed);
    std::string refused;
    const std::string found = run_case(test, engines, &refused);
    refusals += refused.empty() ? 0 : 1;
    ASSERT_EQ(found, "") << "seed " << seed << "\n" << to_string(test);
  }
  EXPECT_LT(refusals, count / 2) << "of " << count;
}

TEST(RandomPrograms, AgreeInterpreted) {
  expect_agreement(number_of_programs(kInterpretedPrograms), kInterpreted);
}
TEST(RandomPrograms, AgreeCompiled) {
  expect_agreement(number_of_programs(kCompiledPrograms), kCompiled);
}

TEST(Case, ParsesBack) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    const std::string text = to_string(random_case(seed));
    EXPECT_EQ(to_string(parse_case(text)), text);
  }
}

std::vector<std::string> reproducers() {
  std::vector<std::string> names;
  const std::filesystem::path folder = TULLE_SOURCE_DIR "/tests/differential/reproducers";
  // on another machine, without the source tree
  if (!std::filesystem::exists(folder)) return names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".txt") names.push_back(entry.path().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

class Reproducer : public testing::TestWithParam<std::string> {};

TEST_P(Reproducer, IsRight) {
  std::ifstream stream(GetParam());
  std::stringstream text;
  text << stream.rdbuf();
  const Case test = parse_case(text.str());
  std::string refused;
  EXPECT_EQ(run_case(test, kBoth, &refused), "") << to_string(test);
}

INSTANTIATE_TEST_SUITE_P(Kept, Reproducer, testing::ValuesIn(reproducers()), [](const auto& entry) {
  return std::filesystem::path(entry.param).stem().string();
});

}  // namespace
}  // namespace tulle::differential
