// The schedule that finishes each nest of a plan: a caller's, one that was decided, or chosen.
#pragma once

#include <optional>
#include <string>

#include "plan/gpu/part_launches.h"
#include "plan/order/loop_order.h"
#include "plan/plan.h"
#include "schedule/schedule.h"

namespace tulle::plan {

// Goes through the nests of a plan in order. Keeps a reference to the request.
class NestSchedules {
 public:
  explicit NestSchedules(const Request& request) : request_(request) {}

  // The following nests belong to this statement of the program, which assigns the tensor.
  void begin(size_t statement, const std::string& tensor);
  // The statement assigns another tensor first.
  void rename(const std::string& tensor, const std::string& name);
  // Whether the loops of the statement follow the storage of its operands, because a caller wrote a
  // schedule for them or may write one.
  bool begin_as_stored() const;

  // Where the schedule of a nest comes from: a caller's where a caller wrote the statement, one
  // that was decided, or neither, and it is chosen.
  struct Origin {
    bool is_written = false;
    std::optional<schedule::Schedule> decided = {};
  };
  struct Chosen {
    schedule::Schedule schedule;
    GpuRules rules;  // that it follows where it is chosen for a GPU
  };
  Chosen choose(const OrderProblem& problem, const OrderChoice& choice, const nest::Nest& nest,
                const Origin& origin);

  // Loops and their nest.
  struct Loops {
    const OrderProblem& problem;
    const OrderChoice& choice;
    const nest::Nest& nest;
  };
  // The schedule that the statement at hand has, and its estimate.
  ScheduleSpace planned(const Loops& loops) const;
  // Whether the request asks for the schedules of the statement.
  bool wants_space() const;
  // The schedules that a search can try: those that the rules give for the `best` order of the
  // loops, written for the nest `written`. `rounded` is the nest of the statement in its own type
  // if sums are computed in a wider one; then only schedules that need the wider type are included.
  ScheduleSpace space(const Loops& best, const nest::Nest& written,
                      const nest::Nest* rounded) const;

 private:
  // Whether a caller wrote how the loops of the statement run.
  bool are_loops_written() const;
  // The space in the names of callers, who do not know the name that a result has while it is
  // accumulated.
  ScheduleSpace in_names_of_callers(ScheduleSpace space, const std::string& tensor) const;

  const Request& request_;
  schedule::Schedule written_;  // of the statement at hand
  std::string tensor_;          // which it assigns
  PartLaunches launches_{request_.machine};
};

}  // namespace tulle::plan
