// Which steps of a schedule are for which statement of a program.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "expr/program.h"
#include "schedule/schedule.h"

namespace tulle::schedule {

// The names that a statement offers to the steps of a schedule.
struct StatementNames {
  std::string result;  // as written
  std::string tensor;  // as it is called in the nest: a statement that adds to `result` has its own
  std::string part;    // as it is called among several that make up `result`; empty: it is alone
  std::set<std::string> operands;
  NameList indices;                          // as written
  std::map<std::string, std::string> loops;  // as written -> as they are called in the nest
};

// Of a statement whose indices may have been renamed, given by the names that were written. The
// loops that formats may make of its indices are among these (nest/loop_names.h).
StatementNames names_of_statement(const expr::Statement& statement,
                                  const std::map<std::string, std::string>& renamed = {});

// The name of a statement that a composite operand makes of the one that assigns `result`: C.add0,
// C.add1. C stands for all of them.
std::string part_name(const std::string& result, size_t part);
// The step for all parts where it names one of a statement that assigns one of these tensors: for
// checks before the formats of operands are known.
Step for_all_parts(Step step, const NameList& assigned);

// The schedule of each statement; empty for a statement that no step is for.
//
// A step that names its statement (C: unroll(j, 2)) is for that one, and for all parts of it unless
// it names a part. Any other is for every statement that has all loops and tensors that it names,
// those that earlier steps made included; loops of formats count where no statement has others of
// these names.
// UserError, pointing at the name, where no statement has it.
std::vector<Schedule> distribute(const Schedule& schedule, std::vector<StatementNames> statements);

// A step that is for no statement, or not clearly for one: why, and where the text says so.
struct MisplacedStep {
  Span place;
  std::string why;
};
// The same, without an exception.
Result<std::vector<Schedule>, MisplacedStep> try_distribute(const Schedule& schedule,
                                                            std::vector<StatementNames> statements);

}  // namespace tulle::schedule
