// The statements of a program while steps of a schedule are drawn for them.
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
  // With the loops that statements have which a caller schedules. Keeps a pointer to the program.
  explicit ScheduledStatements(const CompileRequest& request);

  // Numbers of the statements that have a nest of their own; others are computed where they are
  // used.
  const std::vector<size_t>& numbers() const { return numbers_; }
  // The nest of a statement after the steps that it has taken.
  const nest::Nest& nest(size_t statement) const { return *nests_[statement]; }
  // The tensor that a statement assigns; of a part that adds to a result it is the part's own.
  const std::string& tensor(size_t statement) const { return scopes_[statement].tensor; }

  // The step, which speaks of the loops of the statement's nest, in the names that were written,
  // for this statement alone (and the parts that add to its result) or for all that have what it
  // names.
  std::string written(size_t statement, const std::string& step, bool alone) const;

  // Adds a step as a caller writes it to the schedule if all statements that it is for take it.
  bool take(const std::string& step);
  // Adds it whatever they say.
  void add(const std::string& step) { steps_.push_back(step); }

  const std::vector<std::string>& steps() const { return steps_; }
  std::string text() const;

 private:
  const plan::UniqueProgram* program_;
  std::vector<schedule::StatementNames> scopes_;
  std::vector<std::optional<nest::Nest>> nests_;
  std::vector<size_t> taken_;  // how many steps each statement has
  std::vector<size_t> numbers_;
  std::vector<std::string> steps_;
};

}  // namespace tulle::differential
