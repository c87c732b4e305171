// The decisions of a plan as text: the loop orders and schedules of the statements, in order.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "schedule/schedule.h"
#include "support/source.h"

namespace tulle::plan {

// The decision for a statement.
struct Decision {
  std::vector<std::string> order;
  std::vector<Span> places = {};                    // of the loops
  std::optional<schedule::Schedule> schedule = {};  // if the text contains one
  Span place = {};                                  // of the assigned tensor
};

// The decisions that a plan must follow. A tensor that several statements assign has one decision
// per statement.
class Decisions {
 public:
  void add(const std::string& tensor, Decision decision);
  // Removes and returns the next decision for a statement that assigns the tensor, if there is one.
  std::optional<Decision> take(const std::string& tensor);
  // Whether a decision for the tensor remains.
  bool has(const std::string& tensor) const;
  bool empty() const { return waiting_.empty(); }
  // Throws a UserError at the first decision that remains.
  void require_all_taken() const;

 private:
  std::map<std::string, std::deque<Decision>> waiting_;
};

// Reads the decisions in the text of a plan, from `begin` on; UserError with the place where it is
// wrong. The planner makes the decisions that the text does not contain.
//
//   C: loops i j k                          # comments say what follows from it
//   schedule: parallel(i, by=nnz)           # of the nest; none: it has no steps
Decisions parse_decisions(std::string_view text, size_t begin = 0);

// The text lines of a decision.
std::string loops_line(const std::string& tensor, const std::vector<std::string>& order);
std::string schedule_line(const schedule::Schedule& schedule);

}  // namespace tulle::plan
