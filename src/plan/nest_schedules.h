// The schedule that finishes each nest of a plan: a caller's, one that was decided, or chosen.
#pragma once

#include <optional>
#include <string>

#include "plan/loop_order.h"
#include "plan/part_launches.h"
#include "plan/plan.h"
#include "schedule/schedule.h"

namespace tulle::plan {

// Goes through the nests of a plan in order. Keeps a reference to the request.
class NestSchedules {
 public:
  explicit NestSchedules(const Request& request) : request_(request) {}

  // The nests that come are of this statement of the program, which assigns the tensor.
  void begin(size_t statement, const std::string& tensor);
  // The statement assigns another tensor first.
  void rename(const std::string& tensor, const std::string& name);
  // Whether a caller wrote how the loops of the statement run.
  bool are_loops_written() const;

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
  // What could be tried for a statement that a caller wrote, or the estimate for the schedule that
  // it has: `planned` by rule, `best` of those for the loops as operands are stored, which begin
  // with the nest `written`.
  ScheduleSpace space(const Loops& planned, const Loops& best, const nest::Nest& written) const;

 private:
  const Request& request_;
  schedule::Schedule written_;  // of the statement at hand
  std::string tensor_;          // which it assigns
  PartLaunches launches_{request_.machine};
};

}  // namespace tulle::plan
