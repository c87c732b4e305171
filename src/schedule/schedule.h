// A schedule: the list of rewrites to apply to a nest.
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
  // Defined in schedule.cpp, because copying the variant takes much code in every caller.
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
  // For messages: the statement of the schedule, if a program has several, and the indices whose
  // name in its nest differs from the user's.
  std::string statement;
  std::map<std::string, std::string> renamed;
};

// An order of schedules by their steps, for sets and maps.
struct OrderBySteps {
  bool operator()(const Schedule& a, const Schedule& b) const;
};

// Parses steps separated by ';' or line ends; '#' starts a comment. Throws a UserError with a caret
// if the text is wrong, names an unknown rewrite or gives a rewrite wrong arguments.
Schedule parse_schedule(std::string_view text);
// Text that parses back: "split(k, 64, k0, k1); reorder(i, k0, j, k1)".
std::string to_string(const Step& step);
std::string to_string(const Schedule& schedule);

// The reason why a schedule is illegal for a nest.
struct RefusedStep {
  std::optional<size_t> step;  // the number of the step; none: the nest itself is illegal
  std::string why;             // the problem and the remedy
};

// Applies the steps to the nest in order, ignoring the statements they name, and verifies the nest
// after each step. Returns the nest or the step that is refused. Adds remarks on legal steps to
// `remarks`.
Result<nest::Nest, RefusedStep> try_apply(const Schedule& schedule, const nest::Nest& nest,
                                          Remarks* remarks = nullptr);
// The same without a reason: nothing if a step is refused.
std::optional<nest::Nest> nest_after(const Schedule& schedule, const nest::Nest& nest);
bool is_legal(const Schedule& schedule, const nest::Nest& nest);
// The same for a schedule from a user. Throws a UserError with a caret under the refused step.
nest::Nest apply(const Schedule& schedule, const nest::Nest& nest, Remarks* remarks = nullptr);

// Throws a UserError that points at a step of the schedule and gives the reason of the refusal.
[[noreturn]] void refuse_step(const Schedule& schedule, size_t at, const std::string& why);

}  // namespace tulle::schedule
