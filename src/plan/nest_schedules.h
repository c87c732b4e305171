// The schedule that finishes each nest of a plan: from a caller, from a decision, or chosen by
// rules.
#pragma once

#include <optional>
#include <string>

#include "plan/gpu/part_launches.h"
#include "plan/order/loop_order.h"
#include "plan/plan.h"
#include "schedule/schedule.h"

namespace tulle::plan {

// Visits the nests of a plan in order. Keeps a reference to the request.
class NestSchedules {
 public:
  explicit NestSchedules(const Request& request) : request_(request) {}

  // Starts a statement of the program, which assigns the tensor. The following nests belong to it.
  void begin(size_t statement, const std::string& tensor);
  // Records that the statement assigns a temporary tensor first.
  void rename(const std::string& tensor, const std::string& name);
  // Whether the statement's loops must follow the storage of its operands, because a caller wrote a
  // schedule for them or may write one.
  bool begin_as_stored() const;

  // The source of a nest's schedule: the caller, if a caller wrote the statement, or a decision.
  // Without either, rules choose it.
  struct Origin {
    bool is_written = false;
    std::optional<schedule::Schedule> decided = {};
  };
  struct Chosen {
    schedule::Schedule schedule;
    GpuRules rules;  // the GPU rules it follows, if it was chosen
  };
  Chosen choose(const OrderProblem& problem, const OrderChoice& choice, const nest::Nest& nest,
                const Origin& origin);

  // The loops and their nest.
  struct Loops {
    const OrderProblem& problem;
    const OrderChoice& choice;
    const nest::Nest& nest;
  };
  // The schedule of the current statement, with its estimated time.
  ScheduleSpace planned(const Loops& loops) const;
  // Whether the request includes the schedule space of the statement.
  bool wants_space() const;
  // The schedules that a search can try: those that the rules give for the `best` order of the
  // loops, translated to the nest `written`. `rounded` is the nest of the statement with its own
  // type if sums are computed in a wider type. Then the space only includes schedules that need the
  // wider type.
  ScheduleSpace space(const Loops& best, const nest::Nest& written,
                      const nest::Nest* rounded) const;

 private:
  // Whether a caller scheduled the loops of the statement.
  bool are_loops_written() const;
  // The space with the callers' names. The name of a tensor that accumulates a result is not one of
  // them.
  ScheduleSpace in_names_of_callers(ScheduleSpace space, const std::string& tensor) const;

  const Request& request_;
  schedule::Schedule written_;  // of the current statement
  std::string tensor_;          // the tensor that it assigns
  PartLaunches launches_{request_.machine};
};

}  // namespace tulle::plan
