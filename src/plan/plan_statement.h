// Plans one statement: its loop order, conversions of its operands, its nest and the schedule.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "plan/nest_schedules.h"
#include "plan/order/choose_loops.h"
#include "plan/plan_draft.h"

namespace tulle::plan {

// The permissions of a plan for a statement.
struct StatementFreedom {
  bool may_share = false;   // the result may use an operand's pattern
  bool may_convert = true;  // operands may be converted
  bool is_written = false;  // a caller wrote the statement, so a caller's schedule applies to it
};

// Appends the steps of statements to a draft.
class StatementPlanner {
 public:
  StatementPlanner(PlanDraft& draft, const LoopChooser& loops, NestSchedules& schedules)
      : draft_(draft), loops_(loops), schedules_(schedules) {}

  void plan(const expr::Statement& original, const StatementFreedom& freedom);

 private:
  using Origin = NestSchedules::Origin;

  expr::Expr numbered_by_structure(const expr::Expr& value) const;
  void convert_operands(expr::Statement& statement, OrderProblem& problem, OrderChoice& choice);
  std::string converted(const expr::Access& access, const Format& format);
  bool turn_operands(expr::Statement& statement, const OrderProblem& problem,
                     const OrderChoice& choice);
  expr::Expr turned(const expr::Access& access, const std::string& last);
  void emit(const OrderProblem& problem, const OrderChoice& choice, const Origin& origin);
  void build_sorted(const OrderProblem& problem, const OrderChoice& choice, const Origin& origin);
  void push_nest(const OrderProblem& problem, const OrderChoice& choice, nest::Nest nest,
                 const Origin& origin);
  void compute_wide(const OrderProblem& problem, DType wide_type, bool is_written);
  ScheduleSpace space_of(const OrderProblem& problem, const OrderChoice& choice,
                         const nest::Nest& nest) const;
  nest::Nest nest_for(const OrderProblem& problem, const OrderChoice& choice) const;

  PlanDraft& draft_;
  const LoopChooser& loops_;
  NestSchedules& schedules_;
  std::map<std::string, std::string> conversions_;  // tensor and format -> the name of the copy
  // the nest with the result's own type, while sums use a wider one
  std::optional<nest::Nest> rounded_;
};

}  // namespace tulle::plan
