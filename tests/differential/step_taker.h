// Taking steps of a schedule for one statement, as its nest is after those before.
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

  // Adds the step to the schedule if the nest takes it.
  void take(const std::string& step) { taken_ += statements_.take(written(step)) ? 1 : 0; }
  // Adds it whatever the nest says.
  void add(const std::string& step) { statements_.add(written(step)); }
  // How many the nest has taken.
  size_t taken() const { return taken_; }

  // Outer ones first; those of several workspaces once.
  std::vector<std::string> loops() const;
  std::vector<std::string> tensors(nest::Tensor::Role role) const;
  // Whether a result adds up what comes of the loop.
  bool is_summed(const std::string& var) const;

  // precompute of some loops, two at most.
  std::string draw_precompute(std::vector<std::string> vars, const std::string& workspace);

  Dice& dice_;
  const bool gpu_;
  int& fresh_;

 private:
  // Where there are other statements, most steps say that they are for this one.
  std::string written(const std::string& step);

  ScheduledStatements& statements_;
  const size_t statement_;
  size_t taken_ = 0;
};

}  // namespace tulle::differential
