// The nests of a program in the order in which they run, and what stands around them.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "nest/nest.h"
#include "schedule/schedule.h"

namespace tulle::schedule {

// A nest, and the schedule that is to finish it (without steps, or with fuse_launches alone: it is
// finished).
struct ScheduledNest {
  nest::Nest nest;
  Schedule schedule = {};
};

// The unordered coordinates `from`, which a nest before has built, become the ordered ones `to`,
// which one after reads.
struct SortEntries {
  std::string from, to;
};

using ProgramStep = std::variant<ScheduledNest, SortEntries>;

struct NestProgram {
  std::vector<std::string> operands, indices, results;  // in the caller's order
  std::map<std::string, std::string> same_extents;  // an index that nests use -> one of `indices`
  std::map<std::string, expr::TensorType> unread;   // operands that no nest reads
  std::vector<ProgramStep> steps;

  // Of an operand, a result or what stands between; InternalError where there is none such.
  const expr::TensorType& type_of(const std::string& tensor) const;
  // The operand whose structure a result has; empty: its own.
  std::string pattern_of(const std::string& result) const;
};

// The nest by itself: operands and indices in the order of their names.
NestProgram program_of(nest::Nest nest, Schedule schedule = {});

// All nests finished by their schedules, of which fuse_launches is left; with their remarks.
NestProgram apply(const NestProgram& program, Remarks* remarks = nullptr);

// Text that parse_program reads back.
std::string to_string(const NestProgram& program);

// Reads the nests of a program, or one nest by itself; UserError with the place where the text is
// wrong.
//
//   program(A, B; i, j, k) -> (C)        // operands and indices; results
//   operand D: f32, i32, (i) -> (i: compressed)      // one that no nest reads
//   same A_as0_0 = i                     // another name for the extent of i
//   nest { ... }                         // as in nest/parse.h
//   schedule: parallel(i, by=nnz)        // of the nest above, where it is still to be finished
//   sort A_as0_entries into A_as0_sorted
//   nest { ... }
NestProgram parse_program(std::string_view text);

}  // namespace tulle::schedule
