// Writes schedules for GPUs as text, step by step, with the rules that they follow, and asks
// whether they are legal.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "nest/nest.h"
#include "plan/gpu/rules.h"
#include "schedule/schedule.h"
#include "support/check.h"
#include "support/joined.h"
#include "tulle/error.h"

namespace tulle::plan {

class ScheduleText {
 public:
  using Names = std::vector<std::string>;

  ScheduleText() = default;
  // Begins with the step that numbers rows; empty: with none.
  ScheduleText(GpuRule rule, const std::string& first) {
    follow(rule);
    if (first.empty()) return;
    add(first);
    follow(GpuRule::NumberedRows);
  }

  void follow(GpuRule rule) { rules_.insert(rule); }
  void follow_if(bool does, GpuRule rule) {
    if (does) follow(rule);
  }

  void add(const std::string& step) {
    TULLE_CHECK(!rules_.empty(), "a schedule without a rule: ", step);
    text_ += (text_.empty() ? "" : "; ") + step;
  }
  void split(const std::string& var, int64_t length, const std::string& outer,
             const std::string& inner) {
    add(concat("split(", var, ", ", length, ", ", outer, ", ", inner, ")"));
  }
  void split_positions(const std::string& var, int64_t length, const std::string& outer,
                       const std::string& inner) {
    add(concat("split_positions(", var, ", ", length, ", ", outer, ", ", inner, ")"));
  }
  void reorder(const Names& loops) { add(concat("reorder(", joined(loops), ")")); }
  void precompute(const std::string& workspace, const Names& loops) {
    add(concat("precompute(", workspace, ", (", joined(loops), "))"));
  }
  void rfactor(const std::string& var, const std::string& workspace) {
    add(concat("rfactor(", var, ", ", workspace, ")"));
  }
  void fuse(const std::string& outer, const std::string& inner, const std::string& both) {
    add(concat("fuse(", outer, ", ", inner, ", ", both, ")"));
  }
  void bind(const std::string& var, const char* part) {
    add(concat("bind(", var, ", ", part, ")"));
  }
  void vectorize(const std::string& var, int64_t width) {
    add(concat("vectorize(", var, ", ", width, ")"));
  }
  void unroll(const std::string& var, int64_t copies) {
    add(concat("unroll(", var, ", ", copies, ")"));
  }

  bool empty() const { return text_.empty(); }
  const std::string& text() const { return text_; }
  const GpuRules& rules() const { return rules_; }

 private:
  std::string text_;
  GpuRules rules_;
};

// The nest after the schedule; nothing where that is not legal.
inline std::optional<nest::Nest> applied(const std::string& text, const nest::Nest& nest) {
  try {
    return schedule::apply(schedule::parse_schedule(text), nest);
  } catch (const UserError&) {
    return std::nullopt;
  }
}
inline bool is_legal(const std::string& text, const nest::Nest& nest) {
  return applied(text, nest).has_value();
}

}  // namespace tulle::plan
