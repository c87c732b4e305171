// Runs cells of the matrix.
#include "differential/matrix_run.h"

#include <algorithm>
#include <cstdlib>
#include <iomanip>
#include <iostream>
#include <mutex>
#include <span>

#include <gtest/gtest.h>

#include "differential/on_all_cores.h"
#include "support/check.h"

namespace tulle::differential {

namespace {

constexpr size_t kShown = 5;  // failures per operation

struct Count {
  size_t cells = 0, right = 0;
};
Count& total() {
  static Count count;
  return count;
}

// Prints the sum over all operations at the end.
class Summary : public testing::Environment {
 public:
  void TearDown() override {
    if (total().cells == 0) return;
    std::cout << "matrix: " << total().cells << " cells, " << total().right << " right\n";
  }
};
[[maybe_unused]] const auto* const kSummary = testing::AddGlobalTestEnvironment(new Summary);

// A slice of the matrix: one of every `count` runs of cells, by number.
struct Slice {
  size_t number = 0, count = 1;
};
Slice slice() {
  const char* text = std::getenv("TULLE_TEST_SLICE");
  if (!text) return {};
  char* end = nullptr;
  const long which = std::strtol(text, &end, 10);
  const long count = *end == '/' ? std::strtol(end + 1, &end, 10) : 0;
  if (*end != 0 || which < 1 || which > count)
    user_error("TULLE_TEST_SLICE=", text, " is not understood: 2/8 is the second of eight");
  return {static_cast<size_t>(which - 1), static_cast<size_t>(count)};
}

// The cells of the slice in TULLE_TEST_SLICE, cut into runs.
std::vector<std::span<const Case>> runs_of(std::span<const Case> cells) {
  const Slice wanted = slice();
  std::vector<std::span<const Case>> runs;
  for (size_t at = 0; !cells.empty(); ++at) {
    const size_t length = std::min<size_t>(kConditions, cells.size());
    // Shifts by one in every round, so that a slice does not always get the same types or formats.
    if ((at + at / wanted.count) % wanted.count == wanted.number)
      runs.push_back(cells.first(length));
    cells = cells.subspan(length);
  }
  return runs;
}

}  // namespace

void expect_right(const std::string& name, const std::vector<Case>& all, int engines) {
  const std::vector<std::span<const Case>> runs = runs_of(all);
  size_t cells = 0;
  for (const auto& run : runs) cells += run.size();
  std::mutex mutex;
  std::vector<std::string> failures;
  on_all_cores(runs.size(), [&](size_t at) {
    for (const Case& cell : runs[at]) {
      const std::string found = run_case(cell, engines);
      if (found.empty()) continue;
      const std::lock_guard lock(mutex);
      failures.push_back(found + "\n" + to_string(cell));
    }
  });
  const size_t right = cells - failures.size();
  total().cells += cells;
  total().right += right;
  std::cout << "matrix  " << std::left << std::setw(18) << name << std::right << std::setw(6)
            << cells << " cells" << std::setw(7) << right << " right\n";
  EXPECT_EQ(failures.size(), 0) << "of " << cells << " cells";
  for (size_t f = 0; f < std::min(kShown, failures.size()); ++f) ADD_FAILURE() << failures[f];
}

}  // namespace tulle::differential
