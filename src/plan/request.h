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
  int multiprocessors = 0;  // for GPUs
  int vector_bytes = 64;
  int64_t second_cache = 1 << 20;
  int64_t last_cache = 32 << 20;
  // A GPU cuts the rows of operands with more entries than this, because one row may hold most of
  // them.
  int64_t many_entries = 1 << 12;
  bool deterministic = false;  // on a GPU: no floating-point atomics, whose order varies
  int threads = 1;             // CPU workers, or threads that run at once on a GPU
};

// The schedule spaces to include in a plan, for the statements of callers: none, the planned
// schedule of each statement, or all schedules that a caller can write. With the last, the plan
// uses the loops of the operands as stored.
enum class Spaces : uint8_t { None, Planned, Written };

struct Request {
  const UniqueProgram* program = nullptr;
  std::map<std::string, int64_t> known_extents;  // extents that the kernels are specialised to
  std::map<std::string, OperandStatistics> statistics;
  Machine machine;
  // The schedules of the statements. The planner chooses schedules without steps. An empty list
  // means that it chooses all.
  std::vector<schedule::Schedule> schedules = {};
  Spaces spaces = Spaces::None;
  std::set<std::string> spaces_of = {};  // the tensors of these statements; empty: all
  Decisions decisions = {};              // the planner makes all other decisions
};

}  // namespace tulle::plan
