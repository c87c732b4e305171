// Draws schedule steps for one statement. Each step fits the nest after the steps before it.
#pragma once

#include <string>
#include <vector>

#include "differential/random_case.h"
#include "differential/scheduled_statements.h"
#include "nest/nest.h"

namespace tulle::differential {

class StepTaker {
 public:
  // `fresh` numbers the loops that steps make.
  StepTaker(Dice& dice, ScheduledStatements& statements, size_t statement, bool gpu, int& fresh)
      : dice_(dice), gpu_(gpu), fresh_(fresh), statements_(statements), statement_(statement) {}

 protected:
  const nest::Nest& nest() const { return statements_.nest(statement_); }

  // Adds the step to the schedule if the nest accepts it.
  void take(const std::string& step) { taken_ += statements_.take(written(step)) ? 1 : 0; }
  // Adds the step without a check.
  void add(const std::string& step) { statements_.add(written(step)); }
  // The number of accepted steps.
  size_t taken() const { return taken_; }

  // The loops, outer ones first. A loop in several workspaces occurs once.
  std::vector<std::string> loops() const;
  std::vector<std::string> tensors(nest::Tensor::Role role) const;
  // Whether the loop is summed in some result.
  bool is_summed(const std::string& var) const;

  // A precompute step with at most two of the loops.
  std::string draw_precompute(std::vector<std::string> vars, const std::string& workspace);

  Dice& dice_;
  const bool gpu_;
  int& fresh_;

 private:
  // Prints the step. If there are other statements, usually names this one.
  std::string written(const std::string& step);

  ScheduledStatements& statements_;
  const size_t statement_;
  size_t taken_ = 0;
};

}  // namespace tulle::differential
