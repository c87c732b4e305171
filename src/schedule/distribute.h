// Decides which statements of a program each step of a schedule applies to.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "expr/program.h"
#include "schedule/schedule.h"

namespace tulle::schedule {

// The names of a statement that schedule steps can use.
struct StatementNames {
  std::string result;  // as the user wrote it
  std::string tensor;  // its name in the nest: a statement that adds to `result` has its own tensor
  std::string part;    // the name of this part if several make up `result`; otherwise empty
  std::set<std::string> operands;
  NameList indices;                          // as the user wrote them
  std::map<std::string, std::string> loops;  // the user's name -> the name in the nest
};

// The names of a statement whose indices may have been renamed. `written` has the user's names. The
// result includes the loops that formats may make of the indices (nest/loop_names.h).
StatementNames names_of_statement(const expr::Statement& statement,
                                  const std::map<std::string, std::string>& renamed = {});

// The name of a statement that a composite operand makes of the statement that assigns `result`:
// C.add0, C.add1. C means all of them.
std::string part_name(const std::string& result, size_t part);
// If the step names one part of a statement that assigns one of these tensors, returns the step for
// all parts. Checks use this before the formats of operands are known.
Step for_all_parts(Step step, const NameList& assigned);

// The schedule of each statement. It is empty for a statement that no step applies to.
// A step that names a statement (C: unroll(j, 2)) applies to that statement, and to all of its
// parts unless it names a part. Any other step applies to every statement that has all loops and
// tensors in it, including those that earlier steps make. Loops of formats count if no statement
// has other loops with these names. Throws a UserError that points at the name if no statement has
// it.
std::vector<Schedule> distribute(const Schedule& schedule, std::vector<StatementNames> statements);

// A step that no statement matches, or for which the statement is ambiguous: the reason and the
// place in the text.
struct MisplacedStep {
  Span place;
  std::string why;
};
// The same, without an exception.
Result<std::vector<Schedule>, MisplacedStep> try_distribute(const Schedule& schedule,
                                                            std::vector<StatementNames> statements);

}  // namespace tulle::schedule
