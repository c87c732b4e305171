// What the rules for schedules on a GPU ask of the loops of a nest.
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

// Loops of a dense result, or of one with the pattern of an operand, that begin with one over rows,
// or, of a dense result, with a sum.
struct GpuLoops {
  using Names = std::vector<std::string>;

  GpuLoops(const OrderProblem& problem, const OrderChoice& choice, const nest::Nest& nest,
           const Machine& machine);

  bool is_summed(const std::string& var) const { return problem.reduced.contains(var); }
  // The name of a workspace of the statement.
  std::string name(const char* what) const { return problem.statement->tensor + what; }
  // Warps of a block that rows are dealt to: all that a multiprocessor runs; of parts as many as
  // others have, with which they may be launched.
  int64_t dealt_warps() const { return problem.is_part ? kWarps : kMostWarps; }
  // Whether rows are cut, since one may have so many entries that all others wait for it.
  bool are_many() const { return count >= static_cast<double>(machine.many_entries); }
  // Whether warps can have a row each, all at once, and are done with any in a few turns of `turn`
  // entries: nobody waits long.
  bool are_few_and_short(int64_t turn) const;
  // Whether rows of so many columns that entries gather, again and again, would not stay in the
  // cache.
  bool overflow_cache(int64_t columns) const;

  const OrderProblem& problem;
  const OrderChoice& choice;
  const nest::Nest nest;  // with a result in which sums may be added up
  const Machine& machine;
  Names order;            // begins with the rows, unless these are one and nothing else is there
  std::string row;        // the first loop; empty where there is none to spread
  bool scatters = false;  // the first loop is summed, and its iterations may add up in any order
  // The step that schedules begin with: it numbers rows of which only some are stored. Empty where
  // all are.
  std::string opening;
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
  // Whether a sum has to be that of its terms in one order, not of pieces in any.
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
  GpuLoops::Names within;
};

// Chunks of equally many entries, at least `length`, instead of rows.
SpreadLoop cut_rows(const GpuLoops& loops, int64_t length, ScheduleText& text);
// Blocks of so many warps, as many as all multiprocessors run at once, with rows that lie together,
// whose gathers may find in the cache what their neighbours fetched; pieces of them, of so many
// entries at most, go in turn to the warps or groups of lanes of a block, `turns` of them.
SpreadLoop deal_rows(const GpuLoops& loops, int64_t piece, int64_t warps, int64_t turns,
                     ScheduleText& text);

// The schedule that the rule writes, with rows cut where there are many entries and that is legal;
// empty where it does not apply (writes nothing) or is not legal.
ScheduleText first_legal(const GpuLoops& loops, const std::function<ScheduleText(bool cuts)>& rule);

}  // namespace tulle::plan
