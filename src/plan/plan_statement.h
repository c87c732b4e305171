// Plans one statement: its loop order, conversions of its operands, its nest and the schedule.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "plan/nest_schedules.h"
#include "plan/order/choose_loops.h"
#include "plan/plan_draft.h"

namespace tulle::plan {

// What a plan may do with a statement.
struct StatementFreedom {
  bool may_share = false;   // the pattern of an operand, for its result
  bool may_convert = true;  // its operands
  bool is_written = false;  // a caller wrote it, so that a caller's schedule is meant for it
};

// Adds the steps of statements to the draft of a plan, in order.
class StatementPlanner {
 public:
  StatementPlanner(PlanDraft& draft, const LoopChooser& loops, NestSchedules& schedules)
      : draft_(draft), loops_(loops), schedules_(schedules) {}

  void plan(const expr::Statement& original, const StatementFreedom& freedom);

 private:
  using Origin = NestSchedules::Origin;

  void convert_operands(expr::Statement& statement, OrderProblem& problem, OrderChoice& choice);
  std::string converted(const expr::Access& access, const Format& format);
  void emit(const OrderProblem& problem, const OrderChoice& choice, const Origin& origin);
  void build_sorted(const OrderProblem& problem, const OrderChoice& choice, const Origin& origin);
  void push_nest(const OrderProblem& problem, const OrderChoice& choice, nest::Nest nest,
                 const Origin& origin);
  void compute_wide(const OrderProblem& problem, bool is_written);
  ScheduleSpace space_of(const OrderProblem& problem, const OrderChoice& choice,
                         const nest::Nest& nest) const;
  nest::Nest nest_for(const OrderProblem& problem, const OrderChoice& choice) const;

  PlanDraft& draft_;
  const LoopChooser& loops_;
  NestSchedules& schedules_;
  std::map<std::string, std::string> conversions_;  // tensor and format -> the copy
  std::optional<nest::Nest> rounded_;  // by whose schedule sums would be, while they are computed
};

}  // namespace tulle::plan
