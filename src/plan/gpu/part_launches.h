// Parts of a result that run in one launch on a GPU.
#pragma once

#include <string>
#include <vector>

#include "plan/order/loop_order.h"
#include "schedule/schedule.h"

namespace tulle::plan {

// Visits the nests of a plan in order.
class PartLaunches {
 public:
  explicit PartLaunches(const Machine& machine) : machine_(machine) {}

  // Adds fuse_launches to the schedule of a part if its kernel can share a launch with those of the
  // parts before it and has blocks of the same size. Returns whether it did.
  bool add(const expr::Statement& statement, const nest::Nest& nest, schedule::Schedule& schedule);
  // Ends the launch, because the next nest is not a part.
  void end() { nests_.clear(); }

 private:
  const Machine& machine_;
  std::string first_, target_;     // the statement of the first part, and its target
  std::vector<nest::Nest> nests_;  // the finished nests of the parts so far
};

}  // namespace tulle::plan
