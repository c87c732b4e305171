// Tuned plans on disk: a SQLite data base in the cache's directory.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tulle::jit {

// A row. The first four say for what a plan is good; to the store they are text.
struct StoredPlan {
  std::string statements, tensors, operands, machine;
  std::string schedule;
  double seconds = 0, default_seconds = 0;  // measured: with this schedule, with the planned one
  std::string report;                       // what else was measured
  int64_t made = 0;                         // seconds since 1970
};

// Any number of threads and processes may use the data base at the same time. Whatever goes wrong
// with it (no space, no permission, damage, somebody else's file) reads as a plan that is not there
// and is said in the log: the store never raises.
class PlanStore {
 public:
  // None if the directory's name is empty.
  explicit PlanStore(std::string directory) : directory_(std::move(directory)) {}

  // The plan whose first four texts are those of `wanted`.
  std::optional<StoredPlan> find(const StoredPlan& wanted);
  // In place of the one that is there; whether that worked.
  bool store(const StoredPlan& plan);
  // The latest first.
  std::vector<StoredPlan> list();
  // How many there were.
  int64_t clear();

  std::string path() const;

 private:
  const std::string directory_;
  std::atomic<bool> has_complained_ = false;
  class Connection;
  void complain(const std::string& what);
};

}  // namespace tulle::jit
