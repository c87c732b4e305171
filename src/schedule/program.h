// The nests of a program in execution order, with the program's interface.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "nest/nest.h"
#include "schedule/schedule.h"

namespace tulle::schedule {

// A nest with the schedule that remains to be applied. A finished nest has no steps, or only
// fuse_launches.
struct ScheduledNest {
  nest::Nest nest;
  Schedule schedule = {};
};

// Sorts the unordered coordinates `from`, which an earlier nest has built, into `to`, which a later
// nest reads.
struct SortEntries {
  std::string from, to;
};

using ProgramStep = std::variant<ScheduledNest, SortEntries>;

struct NestProgram {
  std::vector<std::string> operands, indices, results;  // in the caller's order
  std::map<std::string, std::string> same_extents;  // an index that nests use -> one of `indices`
  std::map<std::string, expr::TensorType> unread;   // operands that no nest reads
  std::vector<ProgramStep> steps;

  // The type of an operand, a result or an intermediate tensor. InternalError if there is none of
  // that name.
  const expr::TensorType& type_of(const std::string& tensor) const;
  // The operand whose pattern a result shares. Empty if the result has its own.
  std::string pattern_of(const std::string& result) const;
};

// A program of one nest. Operands and indices are in the order of their names.
NestProgram program_of(nest::Nest nest, Schedule schedule = {});

// Applies the schedules of all nests; only fuse_launches steps remain. Adds the steps' remarks.
NestProgram apply(const NestProgram& program, Remarks* remarks = nullptr);

// Text that parse_program reads back.
std::string to_string(const NestProgram& program);

// Reads the nests of a program, or a single nest. Throws a UserError with the place where the text
// is wrong.
//
//   program(A, B; i, j, k) -> (C)        // operands and indices; results
//   operand D: f32, i32, (i) -> (i: compressed)      // no nest reads it
//   same A_as0_0 = i                     // another name for the extent of i
//   nest { ... }                         // as in nest/parse.h
//   schedule: parallel(i, by=nnz)        // still to be applied to the nest above
//   sort A_as0_entries into A_as0_sorted
//   nest { ... }
NestProgram parse_program(std::string_view text);

}  // namespace tulle::schedule
