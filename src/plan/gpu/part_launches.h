// Parts of a result that are launched together on a GPU.
#pragma once

#include <string>
#include <vector>

#include "plan/order/loop_order.h"
#include "schedule/schedule.h"

namespace tulle::plan {

// Goes through the nests of a plan in order.
class PartLaunches {
 public:
  explicit PartLaunches(const Machine& machine) : machine_(machine) {}

  // Adds fuse_launches to the schedule of a part if its kernel can share a launch with those of the
  // parts before it and has blocks of the same size. Returns whether it does.
  bool add(const expr::Statement& statement, const nest::Nest& nest, schedule::Schedule& schedule);
  // Ends the launch: the next nest is no part.
  void end() { nests_.clear(); }

 private:
  const Machine& machine_;
  std::string first_, target_;     // statement of the first part, and what it adds to
  std::vector<nest::Nest> nests_;  // finished, of the parts so far
};

}  // namespace tulle::plan
