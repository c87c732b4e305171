// Running cells of the matrix.
#include "differential/matrix_run.h"

#include <algorithm>
#include <atomic>
#include <iomanip>
#include <iostream>
#include <mutex>
#include <thread>

#include <gtest/gtest.h>

namespace tulle::differential {

namespace {

constexpr size_t kShown = 5;  // failures of one operation

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

}  // namespace

void expect_right(const std::string& name, const std::vector<Case>& cells, int engines) {
  std::atomic<size_t> next = 0;
  std::mutex mutex;
  std::vector<std::string> failures;
  auto work = [&] {
    for (size_t at = next++; at < cells.size(); at = next++) {
      const std::string found = run_case(cells[at], engines);
      if (found.empty()) continue;
      const std::lock_guard lock(mutex);
      failures.push_back(found + "\n" + to_string(cells[at]));
    }
  };
  std::vector<std::thread> workers;
  for (unsigned w = 0; w < std::max(1U, std::thread::hardware_concurrency()); ++w)
    workers.emplace_back(work);
  for (std::thread& worker : workers) worker.join();
  const size_t right = cells.size() - failures.size();
  total().cells += cells.size();
  total().right += right;
  std::cout << "matrix  " << std::left << std::setw(18) << name << std::right << std::setw(6)
            << cells.size() << " cells" << std::setw(7) << right << " right\n";
  EXPECT_EQ(failures.size(), 0) << "of " << cells.size() << " cells";
  for (size_t f = 0; f < std::min(kShown, failures.size()); ++f) ADD_FAILURE() << failures[f];
}

}  // namespace tulle::differential
