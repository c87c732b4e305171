// The statements of a program with the schedule steps drawn so far.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "driver/compile.h"
#include "nest/nest.h"
#include "schedule/distribute.h"

namespace tulle::differential {

class ScheduledStatements {
 public:
  // Statements get the loops that they have with a caller's schedule. Keeps a pointer to the
  // program.
  explicit ScheduledStatements(const CompileRequest& request);

  // The numbers of the statements that have a nest. Others are inlined.
  const std::vector<size_t>& numbers() const { return numbers_; }
  // The nest of a statement after the steps it accepted.
  const nest::Nest& nest(size_t statement) const { return *nests_[statement]; }
  // The tensor that a statement assigns. A part that adds to a result has its own tensor.
  const std::string& tensor(size_t statement) const { return scopes_[statement].tensor; }

  // Translates a step from the loops of the statement's nest to the user's names. With `alone` it
  // applies to this statement and the parts that add to its result, otherwise to all statements
  // with its names.
  std::string written(size_t statement, const std::string& step, bool alone) const;

  // Adds a step in the user's names if all statements that it applies to accept it.
  bool take(const std::string& step);
  // Adds a step without a check.
  void add(const std::string& step) { steps_.push_back(step); }

  const std::vector<std::string>& steps() const { return steps_; }
  std::string text() const;

 private:
  const plan::UniqueProgram* program_;
  std::vector<schedule::StatementNames> scopes_;
  std::vector<std::optional<nest::Nest>> nests_;
  std::vector<size_t> taken_;  // the number of steps of each statement
  std::vector<size_t> numbers_;
  std::vector<std::string> steps_;
};

}  // namespace tulle::differential
