// The properties of a nest that the rules for GPU schedules depend on.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "plan/gpu/schedule_builder.h"
#include "plan/order/loop_order.h"
#include "support/gpu_limits.h"

namespace tulle::plan {

constexpr int64_t kWarps = 4;        // per block
constexpr int64_t kCopies = 8;       // of a loop over entries: the number of loads in flight
constexpr int64_t kMostWarps = 32;   // of a block that uses a whole multiprocessor
constexpr int64_t kShortChunk = 64;  // the minimum, in rows and entries
constexpr double kLongestChunk = 1024;
constexpr double kWarpsAtOnce = 64;  // that run on a multiprocessor
constexpr int64_t kFewTurns = 8;

// The loops of a nest with a dense result, or with a result that shares the pattern of an operand.
// The first loop runs over rows or, for a dense result, is summed.
struct GpuLoops {
  GpuLoops(const OrderProblem& problem, const OrderChoice& choice, const nest::Nest& nest,
           const Machine& machine);

  bool is_summed(const std::string& var) const { return problem.reduced.contains(var); }
  // The name of a workspace of the statement.
  std::string name(const char* what) const { return problem.statement->tensor + what; }
  // The number of warps in a block with dealt rows: as many as fit a multiprocessor. For a part of
  // a result it is the usual number, so that the parts can share a launch.
  int64_t dealt_warps() const { return problem.is_part ? kWarps : kMostWarps; }
  // Whether to cut rows, because one long row could delay the kernel.
  bool are_many() const { return count >= static_cast<double>(machine.many_entries); }
  // Whether all rows fit in one wave of warps and need few iterations of `turn` entries, so that no
  // row delays the kernel.
  bool are_few_and_short(int64_t turn) const;
  // Whether gathered rows with that many columns overflow the cache although entries gather them
  // repeatedly.
  bool overflow_cache(int64_t columns) const;

  const OrderProblem& problem;
  const OrderChoice& choice;
  const nest::Nest nest;  // with a result that allows accumulation
  const Machine& machine;
  NameList order;         // starts with the rows, unless there is a single row and other loops
  std::string row;        // the first loop; empty if there is none to distribute
  bool scatters = false;  // the first loop is summed, and its iterations may add in any order
  // The first step of each schedule: numbers the rows if only some are stored.
  std::optional<schedule::NumberRows> opening;
  bool contiguous = false;       // the innermost loop
  DType type = DType::Float32;   // of the result
  int64_t element_bytes = 4;     // of values read and written along the innermost loop
  int64_t vector = 1;            // elements per access of a thread
  bool walks_entries = false;    // the second loop walks over the entries of a row
  bool walks_diagonals = false;  // the second loop walks over the diagonals that meet a row
  // the operand lists both coordinates of each entry, without row boundaries
  bool lists_entries = false;
  double entries = 0;         // per row
  double count = 0;           // of all entries
  double rows = 0;            // stored rows
  int64_t longest = 0;        // maximum entries per row by the format; 0: no bound
  int64_t longest_known = 0;  // measured upper bound of the entries per row; 0: unknown
  // Whether a sum must add its terms in one fixed order.
  bool needs_one_order() const;

 private:
  bool is_empty() const;
  bool can_be_spread() const;
  bool can_be_scattered() const;
  bool reads_halves() const;
  void find_entries();
  void number_rows(const expr::TensorType& operand);
};

// The loop that a schedule distributes: over rows, or over chunks with the loops inside a chunk.
struct SpreadLoop {
  std::string var;
  NameList within;
};

// Replaces rows by chunks with equal numbers of entries, at least `length`.
SpreadLoop cut_rows(const GpuLoops& loops, int64_t length, ScheduleBuilder& builder);
// Gives each part of the rows a block of `warps` warps; all multiprocessors together run that many
// blocks at once. The warps or groups of lanes of a block take pieces of rows with at most `piece`
// entries in turn, `turns` of them. The rows of a block are neighbours, so their gathers may hit
// the cache.
SpreadLoop deal_rows(const GpuLoops& loops, int64_t piece, int64_t warps, int64_t turns,
                     ScheduleBuilder& builder);

// Returns the schedule of the rule, with cut rows if there are many entries and that is legal.
// Empty if the rule does not apply (returns nothing) or the schedule is illegal.
ScheduleBuilder first_legal(const GpuLoops& loops,
                            const std::function<ScheduleBuilder(bool cuts)>& rule);

}  // namespace tulle::plan
