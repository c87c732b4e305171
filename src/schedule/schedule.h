// A schedule: the list of rewrites that a nest goes through.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "nest/nest.h"
#include "schedule/steps.h"
#include "support/remarks.h"
#include "support/result.h"

namespace tulle::schedule {

struct Schedule {
  // Defined in schedule.cpp: copies of a variant are much code, which would be in every caller.
  Schedule();
  explicit Schedule(std::vector<Step> steps);
  Schedule(const Schedule&);
  Schedule(Schedule&&) noexcept;
  Schedule& operator=(const Schedule&);
  Schedule& operator=(Schedule&&) noexcept;
  ~Schedule();

  void add(Rewrite rewrite);
  bool operator==(const Schedule&) const;

  std::vector<Step> steps;
  // For messages: the statement that it is for, where a program has several, and the indices that
  // have another name in its nest than the one written.
  std::string statement;
  std::map<std::string, std::string> renamed;
};

// Steps separated by ';' or line ends; '#' starts a comment. UserError with a caret where the text
// is wrong, names no rewrite or gives a rewrite arguments that it does not take.
Schedule parse_schedule(std::string_view text);
// Text that parses back: "split(k, 64, k0, k1); reorder(i, k0, j, k1)".
std::string to_string(const Step& step);
std::string to_string(const Schedule& schedule);

// Why a schedule is illegal for a nest.
struct RefusedStep {
  std::optional<size_t> step;  // the number of the step; none: the nest is refused as it is
  std::string why;             // what is wrong and what to do instead
};

// Takes the nest through the steps in order, whatever statement they name, and verifies it after
// each: the nest, or the step that is refused. Remarks on legal steps are added to `remarks`.
Result<nest::Nest, RefusedStep> try_apply(const Schedule& schedule, const nest::Nest& nest,
                                          Remarks* remarks = nullptr);
// The same for those who do not ask why: nothing where a step is refused.
std::optional<nest::Nest> nest_after(const Schedule& schedule, const nest::Nest& nest);
bool is_legal(const Schedule& schedule, const nest::Nest& nest);
// The same for a schedule that somebody wrote: UserError with a caret under the step that is
// refused.
nest::Nest apply(const Schedule& schedule, const nest::Nest& nest, Remarks* remarks = nullptr);

// Raises a UserError that points at a step of the schedule and says why it is refused.
[[noreturn]] void refuse_step(const Schedule& schedule, size_t at, const std::string& why);

}  // namespace tulle::schedule
