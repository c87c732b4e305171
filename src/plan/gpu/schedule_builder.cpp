// Adds steps to a schedule.
#include "plan/gpu/schedule_builder.h"

#include <utility>

#include "support/check.h"

namespace tulle::plan {

ScheduleBuilder::ScheduleBuilder(GpuRule rule, const std::optional<schedule::NumberRows>& opening) {
  follow(rule);
  if (!opening) return;
  add(*opening);
  follow(GpuRule::NumberedRows);
}

void ScheduleBuilder::add(schedule::Rewrite step) {
  TULLE_CHECK(!rules_.empty(), "a schedule without a rule");
  schedule_.add(std::move(step));
}

void ScheduleBuilder::split(const std::string& loop, int64_t length, const std::string& outer,
                            const std::string& inner) {
  add(schedule::Split{loop, length, outer, inner});
}

void ScheduleBuilder::split_positions(const std::string& loop, int64_t length,
                                      const std::string& outer, const std::string& inner) {
  add(schedule::SplitPositions{loop, length, outer, inner});
}

void ScheduleBuilder::reorder(const NameList& loops) { add(schedule::Reorder{loops}); }

void ScheduleBuilder::precompute(const std::string& workspace, const NameList& loops) {
  add(schedule::Precompute{workspace, loops});
}

void ScheduleBuilder::rfactor(const std::string& loop, const std::string& workspace) {
  add(schedule::RFactor{loop, workspace});
}

void ScheduleBuilder::fuse(const std::string& outer, const std::string& inner,
                           const std::string& fused) {
  add(schedule::Fuse{outer, inner, fused});
}

void ScheduleBuilder::bind(const std::string& loop, GpuPart part) {
  add(schedule::Bind{loop, part});
}

void ScheduleBuilder::bind_with_atomics(const std::string& loop, GpuPart part) {
  add(schedule::Bind{loop, part, true});
}

void ScheduleBuilder::vectorize(const std::string& loop, int64_t lanes) {
  add(schedule::Vectorize{loop, lanes});
}

void ScheduleBuilder::unroll(const std::string& loop, int64_t copies) {
  add(schedule::Unroll{loop, copies});
}

}  // namespace tulle::plan
