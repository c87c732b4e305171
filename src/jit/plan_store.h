// Tuned plans on disk, in a SQLite database in the cache directory.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tulle::jit {

// A row. The first four fields identify the computations to which the plan applies; the store
// treats them as text.
struct StoredPlan {
  std::string statements, tensors, operands, machine;
  std::string schedule;
  double seconds = 0, default_seconds = 0;  // measured, with this schedule and with the planned one
  std::string report;                       // further measurements
  int64_t made = 0;                         // seconds since 1970
};

// Any number of threads and processes may share the database. Every fault (no space, no permission,
// damage, another user's file) reads as a missing plan and is logged: the store never raises.
class PlanStore {
 public:
  // An empty directory name disables the store.
  explicit PlanStore(std::string directory) : directory_(std::move(directory)) {}

  // The plan whose first four fields equal those of `wanted`.
  std::optional<StoredPlan> find(const StoredPlan& wanted);
  // Replaces the existing plan. Returns whether the plan was stored.
  bool store(const StoredPlan& plan);
  // All plans, the latest first.
  std::vector<StoredPlan> list();
  // Removes all plans and returns their number.
  int64_t clear();

  std::string path() const;

 private:
  const std::string directory_;
  std::atomic<bool> has_complained_ = false;
  class Connection;
  void complain(const std::string& what);
};

}  // namespace tulle::jit
