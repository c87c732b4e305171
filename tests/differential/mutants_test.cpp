// Random programs find each seeded fault of the compiler after few programs.
#include <iostream>

#include <gtest/gtest.h>

#include "differential/random_case.h"
#include "support/mutant.h"

namespace tulle::differential {
namespace {

constexpr uint64_t kMost = 2000;  // programs

class Mutant : public testing::TestWithParam<std::string_view> {
 protected:
  ~Mutant() override { set_mutant(""); }
};

TEST_P(Mutant, IsFound) {
  set_mutant(std::string(GetParam()));
  for (uint64_t seed = 0; seed < kMost; ++seed) {
    const Case test = random_case(seed);
    std::string refused;
    if (run_case(test, kInterpreted, &refused).empty()) continue;
    std::cout << GetParam() << ": found by program " << seed + 1 << "\n";
    return;
  }
  FAIL() << GetParam() << " was not found by " << kMost << " programs";
}

std::string test_name(std::string_view mutant) {
  std::string name(mutant);
  for (char& c : name) c = c == '-' ? '_' : c;
  return name;
}

INSTANTIATE_TEST_SUITE_P(Mutants, Mutant, testing::ValuesIn(kMutants),
                         [](const auto& entry) { return test_name(entry.param); });

}  // namespace
}  // namespace tulle::differential
