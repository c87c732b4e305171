// Estimates the time of a scheduled nest. The model is rough; it selects the few schedules worth
// measuring.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "plan/order/loop_order.h"

namespace tulle::plan {

// Estimates nests of one statement with different schedules. Keeps references to its arguments.
class ScheduleCost {
 public:
  ScheduleCost(const OrderProblem& problem, const Machine& machine)
      : problem_(problem), operands_(problem), machine_(machine) {}

  // In seconds.
  double estimate(const nest::Nest& nest);

 private:
  // The state on the way down to an assignment.
  struct Path {
    std::vector<std::string> bound;  // loop variables of the statement
    std::vector<std::string> loops;  // loops of the nest, outermost first
    double visits = 1;               // executions of the body
    double steps = 1;                // the same, counting a vector once
    int unrolled = 1;
    std::string vector;  // the vectorised loop
  };
  double estimate_gpu() const;
  void visit(const nest::Stmt& stmt, Path path);
  void visit_loop(const nest::Forall& loop, Path path);
  double bind(const std::string& var, Path& path);
  void visit_assign(const nest::Assign& assign, const Path& path);
  void read_operand(const expr::Access& access, const Path& path);
  void gather(const expr::Access& access, const Path& path);
  void add_result(const nest::Assign& assign, const Path& path);
  double trips(const std::vector<std::string>& outside, const std::string& var);
  double extent(const std::string& var) const;
  double chunks(const nest::Variable& variable) const;
  bool varies_with(const std::vector<std::string>& indices, const std::string& var) const;
  bool is_stored(const std::string& index) const;
  double bytes_of(const expr::Access& access, const Path& path) const;

  const OrderProblem& problem_;
  const WalkedOperands operands_;
  const Machine& machine_;
  std::map<std::pair<std::vector<std::string>, std::string>, double> trips_;
  // The current nest.
  const nest::Nest* nest_ = nullptr;
  double cycles_ = 0;   // of instructions
  double waiting_ = 0;  // for memory, in cycles
  bool is_parallel_ = false, is_balanced_ = false;
  double workers_ = 1, block_ = 1;  // GPU threads in total and per block
};

}  // namespace tulle::plan
