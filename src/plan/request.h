// The input of planning: a program, statistics of its operands, and a machine.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "plan/decisions.h"
#include "plan/rewrite/unique_indices.h"
#include "plan/statistics.h"
#include "schedule/schedule.h"
#include "support/backend.h"

namespace tulle::plan {

// The properties of a machine that plans depend on.
struct Machine {
  Backend backend = Backend::Cpu;
  int multiprocessors = 0;  // of a GPU
  int vector_bytes = 64;
  int64_t second_cache = 1 << 20;
  int64_t last_cache = 32 << 20;
  // The number of entries of an operand above which its rows are cut for a GPU, because one row may
  // hold most of them.
  int64_t many_entries = 1 << 12;
  bool deterministic = false;  // of a GPU: no sums by atomics, whose order varies
  int threads = 1;             // workers of a CPU, threads that a GPU has room for
};

// The schedule spaces in a plan, for the statements that a caller wrote: none, the planned schedule
// of each, or all schedules that a caller can write. The last are for the loops of the operands as
// they are stored, which the plan then has.
enum class Spaces : uint8_t { None, Planned, Written };

struct Request {
  const UniqueProgram* program = nullptr;
  std::map<std::string, int64_t> known_extents;  // indices that the kernels are specialised to
  std::map<std::string, OperandStatistics> statistics;
  Machine machine;
  // The schedules of the statements. A schedule without steps is chosen here; an empty list chooses
  // all.
  std::vector<schedule::Schedule> schedules = {};
  Spaces spaces = Spaces::None;
  std::set<std::string> spaces_of = {};  // the tensors of statements; empty: of all
  Decisions decisions = {};              // what they leave open is chosen
};

}  // namespace tulle::plan
