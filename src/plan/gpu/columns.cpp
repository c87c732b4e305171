// Puts rows and their columns on threads, in panels that fit the cache. If narrow rows leave lanes
// idle, entries run on these.
#include "plan/gpu/columns.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <numeric>

namespace tulle::plan {

namespace {

constexpr int64_t kNarrowPanel = 32;  // the minimum, in columns
constexpr double kFewRows = 4096;
// The maximum number of entries in a piece, for rows with fewer than kFew entries on average, with
// fewer than 2 * kShortPiece, and with more.
constexpr double kFew = 8;
constexpr int64_t kShortestPiece = 16, kShortPiece = 32, kLongPiece = 128;
// iterations of the entry loop that make a whole warp worthwhile
constexpr double kTurnsOfLanes = 4;

class ColumnScheduler {
 public:
  ColumnScheduler(const GpuLoops& loops, bool cuts)
      : loops_(loops), cuts_(cuts), rows_{loops.row, {}} {}

  // Puts rows and columns on threads. Each thread has a vector of columns and runs all loops in
  // between.
  ScheduleBuilder on_threads() {
    builder_ = ScheduleBuilder(GpuRule::ColumnsOnThreads, loops_.opening);
    const NameList between(loops_.order.begin() + 1, loops_.order.end() - 1);
    const bool sums_entries = loops_.walks_entries && loops_.is_summed(loops_.order[1]);
    const Columns columns = split_columns(loops_.order.back(), sums_entries && !cuts_);
    split_rows(columns);
    const std::string& rows = rows_.var;
    NameList order;
    if (!columns.panels.empty()) order.push_back(columns.panels);
    for (const std::string& var : {rows + ".block", rows + ".in", columns.vectors})
      order.push_back(var);
    order.insert(order.end(), rows_.within.begin(), rows_.within.end());
    order.insert(order.end(), between.begin(), between.end());
    NameList inside;
    if (!columns.pairs.empty()) inside.push_back(columns.pairs);
    if (columns.width > 1) inside.push_back(columns.elements);
    order.insert(order.end(), inside.begin(), inside.end());
    builder_.reorder(order);
    builder_.fuse(rows + ".in", columns.vectors, rows + ".thread");
    gather_sums(between, inside);
    bind_blocks(columns);
    builder_.bind(rows + ".thread", GpuPart::Thread);
    if (columns.width > 1) builder_.vectorize(columns.elements, columns.width);
    const bool pairs = !columns.pairs.empty();
    if (pairs) builder_.unroll(columns.pairs, 0);
    builder_.follow_if(cuts_, GpuRule::ColumnsDealt);
    builder_.follow_if(cuts_ && dealt_warps(columns) < loops_.dealt_warps(),
                       GpuRule::ColumnsDealtToSmallBlocks);
    builder_.follow_if(!columns.panels.empty(), GpuRule::ColumnsInPanels);
    builder_.follow_if(pairs, GpuRule::ColumnsInPairs);
    builder_.follow_if(columns.width > 1, GpuRule::ColumnsInVectors);
    if (!between.empty() && loops_.is_summed(between.back()))
      unroll(between.back(), copies_of(columns));
    stream_result();
    return builder_;
  }

  // Gives a long row, or a piece of one, a warp. If its columns leave lanes idle, several entries
  // run at once, each on a group of neighbouring lanes.
  ScheduleBuilder with_entries_on_lanes() {
    builder_ = ScheduleBuilder(GpuRule::EntriesBesideColumns, loops_.opening);
    if (loops_.order.size() != 3 || !loops_.walks_entries || !loops_.is_summed(loops_.order[1]))
      return {};
    const Columns columns = split_columns(loops_.order.back(), false);
    const int64_t group = kWarpSize / columns.count;
    if (!std::has_single_bit(static_cast<uint64_t>(columns.count)) || group < 2) return {};
    const bool are_whole = !cuts_ || loops_.are_few_and_short(group * kCopies);
    // Shorter rows run faster on groups of lanes, each with its own pieces.
    if (!are_whole && loops_.entries < kTurnsOfLanes * static_cast<double>(group)) return {};
    if (loops_.longest > 0 && loops_.longest <= group) return {};  // too short for a warp
    const std::string entry = loops_.order[1], step = entry + ".step", lane = entry + ".lane";
    const int64_t warps = are_whole ? kWarps : dealt_warps(columns);
    const int64_t piece = are_long() ? kLongPiece : 2 * kShortPiece;
    if (!are_whole) rows_ = deal_rows(loops_, piece, warps, warps, builder_);
    builder_.follow_if(!are_whole, GpuRule::EntriesBesideColumnsDealt);
    builder_.follow_if(!columns.panels.empty(), GpuRule::EntriesBesidePanels);
    builder_.follow_if(columns.width > 1, GpuRule::EntriesBesideVectors);
    const std::string& rows = rows_.var;
    builder_.split_positions(entry, group, step, lane);
    builder_.split(rows, warps, rows + ".block", rows + ".warp");
    NameList order, of_lane = {columns.vectors};
    if (columns.width > 1) of_lane.push_back(columns.elements);
    if (!columns.panels.empty()) order.push_back(columns.panels);
    order.insert(order.end(), {rows + ".block", rows + ".warp"});
    order.insert(order.end(), rows_.within.begin(), rows_.within.end());
    order.insert(order.end(), {lane, columns.vectors, step});
    if (columns.width > 1) order.push_back(columns.elements);
    builder_.reorder(order);
    builder_.precompute(loops_.name(".acc"), of_lane);
    builder_.rfactor(lane, loops_.name(".part"));
    of_lane.insert(of_lane.begin(), lane);
    builder_.reorder(of_lane);
    bind_blocks(columns);
    builder_.bind(rows + ".warp", GpuPart::Warp);
    builder_.bind(columns.vectors, GpuPart::Lane);
    builder_.bind(lane, GpuPart::Lane);
    if (columns.width > 1) builder_.vectorize(columns.elements, columns.width);
    unroll(step, are_whole ? kCopies : are_long() ? kCopies / 2 : kCopies / 4);
    stream_result();
    return builder_;
  }

 private:
  // The columns of a row as vectors of a width that divides them. Wide rows have several panels,
  // processed in sequence. Names the loops over panels, vectors and elements; a name is empty if
  // there is no such loop.
  struct Columns {
    std::string panels, vectors, elements;
    std::string pairs;  // the loop over the two vectors of a thread in a panel
    int64_t width = 1;  // of a vector
    int64_t count = 0;  // of vectors in a panel
  };
  Columns split_columns(const std::string& column, bool may_pair) {
    const auto extent = loops_.nest.known_extent(column);
    Columns columns;
    columns.width = extent ? std::gcd(*extent, loops_.vector) : 1;
    columns.count = panel(column, columns.width) / columns.width;
    columns.vectors = column;
    if (columns.width > 1) {
      columns.elements = column + ".in";
      columns.vectors = column + ".vector";
      builder_.split(column, columns.width, columns.vectors, columns.elements);
    }
    const int64_t all = extent ? *extent / columns.width : columns.count + 1;
    if (all > columns.count) {
      columns.panels = column + ".panel";
      const bool pairs = may_pair && columns.count == kWarpSize && all % (2 * kWarpSize) == 0;
      if (pairs) columns.pairs = column + ".pair";
      const std::string lanes = column + ".lane", both = pairs ? column + ".lanes" : lanes;
      builder_.split(columns.vectors, pairs ? 2 * kWarpSize : columns.count, columns.panels, both);
      if (pairs) builder_.split(both, kWarpSize, columns.pairs, lanes);
      columns.vectors = lanes;
    } else {
      columns.count = all;
    }
    return columns;
  }

  // The number of columns in a panel: as many as a warp can process with vectors of this width, or
  // fewer if the reused gathered rows would otherwise overflow the cache.
  int64_t panel(const std::string& column, int64_t width) {
    int64_t columns = kWarpSize * width;
    if (const auto extent = loops_.nest.known_extent(column))
      columns =
          std::min(columns, static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(*extent))));
    if (!loops_.overflow_cache(columns)) return columns;
    builder_.follow(GpuRule::PanelsForTheCache);
    if (cuts_ && are_long()) return std::min(columns, kNarrowPanel);
    while (columns >= 2 * kNarrowPanel && loops_.overflow_cache(columns)) columns /= 2;
    return columns;
  }

  // The number of loads in flight. If few rows run at once, more loads hide the latency.
  int64_t copies() const {
    const bool few = loops_.walks_entries && loops_.rows <= kFewRows;
    return few ? 2 * kCopies : kCopies;
  }

  // Halves the copies if a thread has two vectors, or if a block uses all threads of a
  // multiprocessor and so has few registers per thread.
  int64_t copies_of(const Columns& columns) const {
    if (!columns.pairs.empty()) return copies() / 2;
    if (!cuts_) return copies();
    return dealt_warps(columns) < loops_.dealt_warps() ? kCopies : copies() / 2;
  }

  // Unrolls the loop, but not beyond the number of entries in the longest row.
  void unroll(const std::string& var, int64_t copies) {
    const bool walks = loops_.walks_entries && loops_.longest > 0;
    const int64_t wanted = walks ? std::min(copies, loops_.longest) : copies;
    if (wanted > 1) builder_.unroll(var, wanted);
  }

  void split_rows(const Columns& columns) {
    const int64_t warps = cuts_ ? dealt_warps(columns) : kWarps;
    const int64_t groups = std::max<int64_t>(1, warps * kWarpSize / columns.count);
    if (cuts_) rows_ = deal_rows(loops_, piece(), warps, groups, builder_);
    builder_.split(rows_.var, groups, rows_.var + ".block", rows_.var + ".in");
  }

  // Whether a row has entries for several pieces.
  bool are_long() const { return loops_.entries >= 2 * kLongPiece; }
  // The maximum number of entries in a piece. The row lengths of a composite's part are unknown.
  int64_t piece() const {
    if (loops_.entries < kFew && !loops_.problem.is_part) return kShortestPiece;
    return loops_.entries < 2 * kShortPiece ? kShortPiece : kLongPiece;
  }
  // The warps of a block that processes dealt pieces. If a multiprocessor runs several panels and
  // each warp has few pieces of a panel, small blocks are better: they do not wait for the slowest
  // of many warps.
  int64_t dealt_warps(const Columns& columns) const {
    const double pieces = loops_.rows / std::max(1, loops_.machine.multiprocessors) / kMostWarps;
    return !columns.panels.empty() && pieces < kFewTurns ? kWarps : loops_.dealt_warps();
  }

  // Fuses the loops over panels and rows into the loop over blocks.
  void bind_blocks(const Columns& columns) {
    std::string block = rows_.var + ".block";
    if (!columns.panels.empty()) {
      builder_.fuse(columns.panels, block, rows_.var + ".panel_block");
      block = rows_.var + ".panel_block";
    }
    builder_.bind(block, GpuPart::Block);
  }

  // Accumulates in registers, for sums over the loops that each thread runs.
  void gather_sums(const NameList& between, const NameList& columns) {
    const auto is_summed = [&](const std::string& var) { return loops_.is_summed(var); };
    const auto first = std::find_if(between.begin(), between.end(), is_summed);
    if (first == between.end()) return;
    NameList inside;
    std::copy_if(first, between.end(), std::back_inserter(inside), std::not_fn(is_summed));
    inside.insert(inside.end(), columns.begin(), columns.end());
    builder_.precompute(loops_.name(".acc"), inside);
    builder_.follow(GpuRule::ColumnsSummed);
  }

  void stream_result() {
    const OrderProblem& problem = loops_.problem;
    double bytes = static_cast<double>(size_of(loops_.type));
    for (const std::string& var : loops_.choice.order)
      bytes *= loops_.is_summed(var) ? 1 : problem.extents.at(var);
    // If numbered rows are stored, later kernels still write the other rows.
    const bool all = problem.statement->adds_to.empty() && !loops_.opening;
    if (loops_.choice.route == Route::Dense && all &&
        bytes > static_cast<double>(loops_.machine.last_cache) / 4) {
      builder_.add(schedule::NonTemporal{problem.statement->tensor});
      builder_.follow(GpuRule::ColumnsStreamed);
    }
  }

  const GpuLoops& loops_;
  const bool cuts_;
  SpreadLoop rows_;
  ScheduleBuilder builder_;
};

}  // namespace

ScheduleBuilder columns_on_threads(const GpuLoops& loops) {
  ScheduleBuilder entries = first_legal(
      loops, [&](bool cuts) { return ColumnScheduler(loops, cuts).with_entries_on_lanes(); });
  if (!entries.empty()) return entries;
  return first_legal(loops, [&](bool cuts) { return ColumnScheduler(loops, cuts).on_threads(); });
}

}  // namespace tulle::plan
