// The properties of a nest that the rules for GPU schedules depend on.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "plan/gpu/schedule_builder.h"
#include "plan/order/loop_order.h"
#include "support/gpu_limits.h"

namespace tulle::plan {

constexpr int64_t kWarps = 4;        // of a block
constexpr int64_t kCopies = 8;       // of a loop over entries: so many loads are under way
constexpr int64_t kMostWarps = 32;   // of a block that has a multiprocessor to itself
constexpr int64_t kShortChunk = 64;  // rows and entries, at least
constexpr double kLongestChunk = 1024;
constexpr double kWarpsAtOnce = 64;  // that a multiprocessor runs
constexpr int64_t kFewTurns = 8;

// The loops of a dense result, or of one with the pattern of an operand. The first loop is over
// rows or, for a dense result, summed.
struct GpuLoops {
  GpuLoops(const OrderProblem& problem, const OrderChoice& choice, const nest::Nest& nest,
           const Machine& machine);

  bool is_summed(const std::string& var) const { return problem.reduced.contains(var); }
  // The name of a workspace of the statement.
  std::string name(const char* what) const { return problem.statement->tensor + what; }
  // The warps of a block that rows are dealt to: all that fit a multiprocessor. For parts of a
  // result the same number as in other blocks, so that they can share a launch.
  int64_t dealt_warps() const { return problem.is_part ? kWarps : kMostWarps; }
  // Whether rows are cut, because one long row could delay the kernel.
  bool are_many() const { return count >= static_cast<double>(machine.many_entries); }
  // Whether each row can have a warp of its own at once, which needs few turns of `turn` entries
  // for it, so that no row delays the kernel.
  bool are_few_and_short(int64_t turn) const;
  // Whether gathered rows of that many columns overflow the cache, although entries gather them
  // repeatedly.
  bool overflow_cache(int64_t columns) const;

  const OrderProblem& problem;
  const OrderChoice& choice;
  const nest::Nest nest;  // with a result in which sums may be added up
  const Machine& machine;
  NameList order;         // begins with the rows, unless these are one and nothing else is there
  std::string row;        // the first loop; empty where there is none to spread
  bool scatters = false;  // the first loop is summed, and its iterations may add up in any order
  // The step that schedules begin with: it numbers rows where only some are stored.
  std::optional<schedule::NumberRows> opening;
  bool contiguous = false;       // the innermost loop
  DType type = DType::Float32;   // of the result
  int64_t element_bytes = 4;     // of what is read and written along the innermost loop
  int64_t vector = 1;            // elements that one access of a thread takes
  bool walks_entries = false;    // the second loop, row by row
  bool walks_diagonals = false;  // the second loop, those that meet a row
  bool lists_entries = false;    // with both coordinates of each, so that rows are not found
  double entries = 0;            // of a row
  double count = 0;              // of all entries
  double rows = 0;               // that are there
  int64_t longest = 0;  // entries that a row may have by the format; 0 where there is no bound
  int64_t longest_known = 0;  // that no row exceeds, as was seen; 0 where that is not known
  // Whether the terms of a sum have to be added in one order.
  bool needs_one_order() const;

 private:
  bool is_empty() const;
  bool can_be_spread() const;
  bool can_be_scattered() const;
  bool reads_halves() const;
  void find_entries();
  void number_rows(const expr::TensorType& operand);
};

// The loop that a schedule spreads: over rows or over chunks of them, with the loops of a chunk.
struct SpreadLoop {
  std::string var;
  NameList within;
};

// Chunks of equally many entries, at least `length`, instead of rows.
SpreadLoop cut_rows(const GpuLoops& loops, int64_t length, ScheduleBuilder& builder);
// Gives each part of the rows a block of `warps` warps, as many blocks as all multiprocessors run
// at once. Pieces of rows with at most `piece` entries go in turn to the warps or groups of lanes
// of a block, `turns` of them. Rows of a block are neighbours, whose gathers may hit the cache.
SpreadLoop deal_rows(const GpuLoops& loops, int64_t piece, int64_t warps, int64_t turns,
                     ScheduleBuilder& builder);

// Returns the schedule of the rule, with rows cut if there are many entries and that is legal;
// empty if the rule does not apply (returns nothing) or the schedule is illegal.
ScheduleBuilder first_legal(const GpuLoops& loops,
                            const std::function<ScheduleBuilder(bool cuts)>& rule);

}  // namespace tulle::plan
