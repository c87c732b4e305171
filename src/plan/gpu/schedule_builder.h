// Builds a GPU schedule step by step and records the rules that it follows.
#pragma once

#include <optional>
#include <string>

#include "plan/gpu/rules.h"
#include "schedule/schedule.h"

namespace tulle::plan {

using GpuPart = schedule::Bind::Part;

class ScheduleBuilder {
 public:
  ScheduleBuilder() = default;
  // Starts with the step that numbers rows, if there is one.
  explicit ScheduleBuilder(GpuRule rule,
                           const std::optional<schedule::NumberRows>& opening = std::nullopt);

  void follow(GpuRule rule) { rules_.insert(rule); }
  void follow_if(bool does, GpuRule rule) {
    if (does) follow(rule);
  }

  void add(schedule::Rewrite step);
  void split(const std::string& loop, int64_t length, const std::string& outer,
             const std::string& inner);
  void split_positions(const std::string& loop, int64_t length, const std::string& outer,
                       const std::string& inner);
  void reorder(const NameList& loops);
  void precompute(const std::string& workspace, const NameList& loops);
  void rfactor(const std::string& loop, const std::string& workspace);
  void fuse(const std::string& outer, const std::string& inner, const std::string& fused);
  void bind(const std::string& loop, GpuPart part);
  void bind_with_atomics(const std::string& loop, GpuPart part);
  void vectorize(const std::string& loop, int64_t lanes);
  void unroll(const std::string& loop, int64_t copies);

  bool empty() const { return schedule_.steps.empty(); }
  const schedule::Schedule& schedule() const { return schedule_; }
  const GpuRules& rules() const { return rules_; }

 private:
  schedule::Schedule schedule_;
  GpuRules rules_;
};

}  // namespace tulle::plan
