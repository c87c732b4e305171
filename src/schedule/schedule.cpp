// Schedules as values.
#include "schedule/schedule.h"

#include <utility>

namespace tulle::schedule {

Schedule::Schedule() = default;
Schedule::Schedule(std::vector<Step> s) : steps(std::move(s)) {}
Schedule::Schedule(const Schedule&) = default;
Schedule::Schedule(Schedule&&) noexcept = default;
Schedule& Schedule::operator=(const Schedule&) = default;
Schedule& Schedule::operator=(Schedule&&) noexcept = default;
Schedule::~Schedule() = default;

void Schedule::add(Rewrite rewrite) { steps.push_back({std::move(rewrite)}); }

bool Schedule::operator==(const Schedule&) const = default;

}  // namespace tulle::schedule
