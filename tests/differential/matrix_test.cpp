// Runs the matrix: a sample of it, all of it with TULLE_TEST_FULL=1.
#include "differential/matrix.h"

#include <atomic>
#include <cstdlib>
#include <iomanip>
#include <iostream>
#include <mutex>
#include <thread>

#include <gtest/gtest.h>

namespace tulle::differential {
namespace {

constexpr size_t kShown = 5;  // failures of one operation

struct Count {
  std::atomic<int> cells = 0, right = 0;
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

class Matrix : public testing::TestWithParam<Operation> {};

TEST_P(Matrix, EveryCellIsRight) {
  const bool all = std::getenv("TULLE_TEST_FULL") != nullptr;
  const std::vector<Case> todo = cells(GetParam(), all);
  std::atomic<size_t> next = 0;
  std::mutex mutex;
  std::vector<std::string> failures;
  auto work = [&] {
    for (size_t at = next++; at < todo.size(); at = next++) {
      ++total().cells;
      const std::string found = run_case(todo[at]);
      if (found.empty()) {
        ++total().right;
        continue;
      }
      const std::lock_guard lock(mutex);
      failures.push_back(found + "\n" + to_string(todo[at]));
    }
  };
  std::vector<std::thread> workers;
  for (unsigned w = 0; w < std::max(1U, std::thread::hardware_concurrency()); ++w)
    workers.emplace_back(work);
  for (std::thread& worker : workers) worker.join();
  std::cout << "matrix  " << std::left << std::setw(18) << GetParam().name << std::right
            << std::setw(6) << todo.size() << " cells" << std::setw(7)
            << todo.size() - failures.size() << " right\n";
  EXPECT_EQ(failures.size(), 0) << "of " << todo.size() << " cells";
  for (size_t f = 0; f < std::min(kShown, failures.size()); ++f) ADD_FAILURE() << failures[f];
}

INSTANTIATE_TEST_SUITE_P(Operations, Matrix, testing::ValuesIn(operations()),
                         [](const auto& entry) { return entry.param.name; });

}  // namespace
}  // namespace tulle::differential
