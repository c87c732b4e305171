// Schedules as values.
#include "schedule/schedule.h"

#include <algorithm>
#include <tuple>
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

bool OrderBySteps::operator()(const Schedule& a, const Schedule& b) const {
  return std::lexicographical_compare(a.steps.begin(), a.steps.end(), b.steps.begin(),
                                      b.steps.end(), [](const Step& one, const Step& other) {
                                        return std::tie(one.statement, one.rewrite) <
                                               std::tie(other.statement, other.rewrite);
                                      });
}

}  // namespace tulle::schedule
