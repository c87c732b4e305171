// Random sequences of rewrites: the result equals the reference, or the sequence is refused.
#include <cstdlib>
#include <iomanip>
#include <iostream>
#include <map>
#include <mutex>
#include <sstream>

#include <gtest/gtest.h>

#include "differential/on_all_cores.h"
#include "differential/prepared.h"
#include "differential/random_case.h"
#include "schedule/rewrites.h"
#include "schedule/schedule.h"
#include "support/check.h"

namespace tulle::differential {
namespace {

constexpr uint64_t kSequences = 5000;  // TULLE_TEST_PROGRAMS sets another number
constexpr uint64_t kOfSlice = 50;      // sequences with consecutive seeds
constexpr uint64_t kFirst = 1000000;   // a seed; programs differ from those of random_test.cpp

constexpr const char* kOfMembers = "bind(member)";  // few nests accept these

struct Tally {
  uint64_t drawn = 0, equal = 0, steps = 0, equal_steps = 0;

  void add(const Tally& other) {
    drawn += other.drawn;
    equal += other.equal;
    steps += other.steps;
    equal_steps += other.equal_steps;
  }
};

struct Outcome {
  std::map<std::string, Tally> kinds;        // of programs
  std::map<std::string, uint64_t> rewrites;  // in accepted sequences
  std::vector<std::string> failures;

  void add(const Outcome& other) {
    for (const auto& [kind, tally] : other.kinds) kinds[kind].add(tally);
    for (const auto& [rewrite, count] : other.rewrites) rewrites[rewrite] += count;
    failures.insert(failures.end(), other.failures.begin(), other.failures.end());
  }
};

std::string kind_of(const Case& test) {
  const bool parts = test.schedule.find("decompose(") != std::string::npos ||
                     std::any_of(test.operands.begin(), test.operands.end(), is_composite);
  const bool several = test.text.find('\n') != std::string::npos;
  return concat(test.gpu ? "GPU" : "CPU", parts     ? ", operands in parts"
                                          : several ? ", several statements"
                                                    : ", one statement");
}

// Whether the case is legal without its schedule, so that the schedule was refused.
bool is_legal(Case test) {
  test.schedule.clear();
  return can_prepare(test);
}

void run_sequence(const Case& test, Outcome& outcome) {
  std::string refused;
  const std::string found = run_case(test, kInterpreted, &refused);
  if (!found.empty())
    outcome.failures.push_back(concat(found, "\nseed ", test.seed, "\n", to_string(test)));
  if (!refused.empty() && !is_legal(test)) return;
  const auto steps = schedule::parse_schedule(test.schedule).steps;
  Tally& tally = outcome.kinds[kind_of(test)];
  ++tally.drawn;
  tally.steps += steps.size();
  if (!refused.empty()) return;
  ++tally.equal;
  tally.equal_steps += steps.size();
  for (const schedule::Step& step : steps) {
    ++outcome.rewrites[std::string(schedule::kind_of(step.rewrite).name)];
    if (schedule::to_string(step).find(", member") != std::string::npos)
      ++outcome.rewrites[kOfMembers];
  }
}

uint64_t drawn(const Outcome& outcome) {
  uint64_t count = 0;
  for (const auto& [kind, tally] : outcome.kinds) count += tally.drawn;
  return count;
}

TEST(RandomSchedules, AreRightOrRefused) {
  const char* asked = std::getenv("TULLE_TEST_PROGRAMS");
  const uint64_t slices = ((asked ? std::stoull(asked) : kSequences) + kOfSlice - 1) / kOfSlice;
  Outcome all;
  std::mutex mutex;
  on_all_cores(slices, [&](size_t slice) {
    Outcome here;
    for (uint64_t seed = kFirst + 1000 * slice; drawn(here) < kOfSlice; ++seed) {
      const Case test = random_case(seed);
      if (!test.schedule.empty()) run_sequence(test, here);
    }
    const std::lock_guard lock(mutex);
    all.add(here);
  });
  for (const std::string& failure : all.failures) ADD_FAILURE() << failure;
  // If all sequences were refused, the test would find nothing.
  Tally sum;
  for (const auto& [kind, tally] : all.kinds) {
    std::cout << "sequences  " << std::left << std::setw(24) << kind << std::right << std::setw(5)
              << tally.drawn << " drawn of " << std::setw(5) << tally.steps << " steps"
              << std::setw(6) << tally.equal << " equal of " << std::setw(5) << tally.equal_steps
              << " steps" << std::setw(6) << tally.drawn - tally.equal << " refused\n";
    EXPECT_GE(tally.equal * 2, tally.drawn) << kind;
    sum.add(tally);
  }
  EXPECT_EQ(all.kinds.size(), 6);
  EXPECT_GE(sum.equal_steps, 2 * sum.equal);
  std::cout << "sequences: " << sum.drawn << " drawn, " << sum.equal << " equal, "
            << sum.drawn - sum.equal << " refused\n";
  std::cout << "in those that are equal:";
  for (const auto& [rewrite, count] : all.rewrites) std::cout << " " << rewrite << " " << count;
  std::cout << "\n";
  if (asked) return;
  std::istringstream names(schedule::rewrite_names());
  for (std::string name; std::getline(names >> std::ws, name, ',');)
    EXPECT_GE(all.rewrites[name], 10) << name;
  EXPECT_GE(all.rewrites[kOfMembers], 10);
}

}  // namespace
}  // namespace tulle::differential
