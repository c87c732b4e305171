// The plan of a program: which nests run in which order, with the conversions they need, and why.
#pragma once

#include <map>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "expr/program.h"
#include "nest/nest.h"
#include "plan/decisions.h"
#include "plan/gpu/rules.h"
#include "plan/rewrite/unique_indices.h"
#include "plan/statistics.h"
#include "schedule/schedule.h"
#include "support/backend.h"

namespace tulle::plan {

// The machine as far as plans depend on it.
struct Machine {
  Backend backend = Backend::Cpu;
  int multiprocessors = 0;  // of a GPU
  int vector_bytes = 64;
  int64_t second_cache = 1 << 20;
  int64_t last_cache = 32 << 20;
  // Entries of an operand from which on its rows are cut for a GPU: one of them may have so many
  // that all others would wait for it.
  int64_t many_entries = 1 << 12;
  bool deterministic = false;  // of a GPU: no sums by atomics, whose order varies
  int threads = 1;             // workers of a CPU, threads that a GPU has room for
};

struct ScheduledCandidate {
  std::string schedule;  // text, in the names of the nest
  double seconds = 0;    // estimated
};

// The unordered coordinates `from` become the ordered ones `to`.
struct SortEntries {
  std::string from, to;
  expr::TensorType type;
};

// A nest in the loop order chosen, and the schedule that finishes it.
struct PlannedNest {
  nest::Nest nest;
  schedule::Schedule schedule;
};

using Step = std::variant<PlannedNest, SortEntries>;

// Schedules that could finish the nest of a statement.
struct ScheduleSpace {
  std::string tensor;  // which the statement assigns
  std::vector<ScheduledCandidate> candidates;
  nest::Nest nest;
};

// The spaces that a plan has of the statements that were written: none, the one schedule that each
// has, or all that a caller may write. The last are for other loops than the rules choose: those of
// the operands as they are stored, which the plan has then.
enum class Spaces : uint8_t { None, Planned, Written };

struct Plan {
  std::vector<Step> steps;
  double cost = 0;  // estimated, of all of them
  std::map<std::string, expr::TensorType> temporaries;
  std::map<std::string, std::string>
      extent_aliases;  // index of a conversion -> the index with the same extent
  std::map<std::string, std::string>
      shared_patterns;  // result -> the operand whose structure it has
  // The text that decisions.h reads: what was decided, and in comments why and what follows.
  std::vector<std::string> lines;
  std::vector<ScheduleSpace> spaces;  // as asked for
  GpuRules rules;                     // that were followed for a GPU
  int orders_tried = 0;               // and beginnings of some
};

struct Request {
  const UniqueProgram* program = nullptr;
  std::map<std::string, int64_t> known_extents;  // indices that the kernels are specialised to
  std::map<std::string, OperandStatistics> statistics;
  Machine machine;
  // Of the statements' nests; one without steps is chosen here, and so are all where none is given.
  std::vector<schedule::Schedule> schedules = {};
  Spaces spaces = Spaces::None;
  std::set<std::string> spaces_of = {};  // the tensors of statements; empty: of all
  Decisions decisions = {};              // what they leave open is chosen
};

Plan make_plan(const Request& request);

}  // namespace tulle::plan
