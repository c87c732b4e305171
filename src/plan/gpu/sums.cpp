// Schedules groups of lanes that share a row or the sum of an entry.
#include "plan/gpu/sums.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <optional>

namespace tulle::plan {

namespace {

constexpr int64_t kLanesOfSum = 8;   // minimum lanes that share a contiguous sum
constexpr int64_t kFewSteps = 4;     // vectors per lane that leave registers for several entries
constexpr double kLongRow = 128;     // entries that occupy several groups of lanes
constexpr int64_t kFewEntries = 8;   // of a chunk for a group of lanes
constexpr double kWarpsToFill = 32;  // per multiprocessor
constexpr int64_t kPiece = 128;      // entries of a long row that a warp processes at once

// The distribution over the groups of lanes in a warp. Entries: equal numbers of entries, across
// row boundaries. Rows: whole rows, for entries that cannot be counted because they are padded or
// merged with others. Row: the entries of one row.
enum class Spread : uint8_t { Entries, Rows, Row };

class SumScheduler {
 public:
  SumScheduler(const GpuLoops& loops, Spread spread, bool cuts)
      : loops_(loops),
        spread_(spread),
        cuts_(cuts),
        rows_{loops.row, {}},
        builder_(rule_of(spread), loops.opening) {}

  ScheduleBuilder run() {
    const std::optional<Shape> found = shape();
    if (!found) return {};
    const Shape& sum = *found;
    NameList order = split_over_groups(sum.groups, sum.steps);
    const std::string walked = order.back();
    split_sum(sum);
    order_loops(sum, std::move(order));
    bind_blocks(sum.panels ? sum.step : "");
    builder_.bind(rows_.var + ".warp", GpuPart::Warp);
    const std::string& entry = loops_.order[1];
    builder_.bind(spread_ == Spread::Row ? entry + ".lane" : rows_.var + ".lane", GpuPart::Lane);
    builder_.bind(sum.lane, GpuPart::Lane);
    if (sum.into_vector) builder_.vectorize(sum.element, sum.width);
    if (sum.width > 1 && !sum.into_vector) builder_.unroll(sum.element, 0);
    if (sum.steps > 1) builder_.unroll(sum.step, sum.steps <= kCopies ? 0 : kCopies);
    unroll(walked, sum.groups, sum.steps);
    if (spread_ == Spread::Row && !sum.panels) stream_result();
    builder_.follow_if(sum.panels, GpuRule::SumsInPanels);
    builder_.follow_if(sum.steps > 1, GpuRule::SumsInSteps);
    builder_.follow_if(sum.into_vector, GpuRule::SumsInVectors);
    builder_.follow_if(sum.width > 1 && !sum.into_vector, GpuRule::SumsOfOneVector);
    builder_.follow_if(is_gathered(sum.index), GpuRule::SumsGathered);
    return builder_;
  }

 private:
  // The distribution of an entry's sum over the lanes of a group.
  struct Shape {
    std::string index;
    // The loops over steps, over lanes and over the elements of a vector. A step is either an
    // outermost loop over panels or a loop of each lane.
    std::string step, lane, element;
    int64_t width = 1;   // elements per vector
    int64_t lanes = 1;   // per group
    int64_t groups = 1;  // per warp
    int64_t steps = 1;   // per lane
    bool panels = false;
    // Accumulate into a vector of sums first: for several vectors per lane, and for halves, whose
    // vectors have many elements. Otherwise fused multiply-adds sum the products of the single
    // vector.
    bool into_vector = false;
  };

  std::optional<Shape> shape() const {
    const std::string& sum = loops_.order[2];
    const auto extent = loops_.nest.known_extent(sum);
    if (loops_.is_summed(loops_.order[1]) || !extent || *extent < 1) return std::nullopt;
    Shape shape{.index = sum, .lane = sum + ".lane", .element = sum + ".in"};
    shape.width = std::gcd(*extent, loops_.vector);
    const int64_t vectors = *extent / shape.width;
    shape.lanes = lanes_for(vectors);
    shape.groups = kWarpSize / shape.lanes;
    shape.panels = in_panels(*extent, shape.lanes * shape.width);
    shape.steps = shape.panels ? 1 : (vectors + shape.lanes - 1) / shape.lanes;
    shape.step = sum + (shape.panels ? ".panel" : ".step");
    shape.into_vector = shape.width > 1 && (shape.steps > 1 || loops_.element_bytes < 4);
    return shape;
  }

  void split_sum(const Shape& sum) {
    const std::string rest = sum.index + ".rest";
    builder_.split(sum.index, sum.lanes * sum.width, sum.step, sum.width > 1 ? rest : sum.lane);
    if (sum.width > 1) builder_.split(rest, sum.width, sum.lane, sum.element);
  }

  // Puts the loops of the sum inside the loops over entries, and accumulates in registers.
  void order_loops(const Shape& sum, NameList order) {
    NameList inside = {sum.lane};
    if (sum.panels) {
      order.insert(order.begin(), sum.step);
    } else {
      inside.push_back(sum.step);
    }
    if (sum.width > 1)
      inside.insert(sum.into_vector ? inside.begin() + 1 : inside.end(), sum.element);
    if (is_gathered(sum.index)) {  // the consumer of the sum is outside its loops
      builder_.reorder(order);
      builder_.reorder(inside);
    } else {
      order.insert(order.end(), inside.begin(), inside.end());
      builder_.reorder(order);
      if (!sum.panels) builder_.precompute(loops_.name(".acc"), {});
    }
    builder_.rfactor(sum.lane, loops_.name(".part"));
    if (!sum.into_vector) return;
    builder_.rfactor(sum.element, loops_.name(".sums"));
    if (!sum.panels) builder_.reorder({sum.step, sum.element});
  }

  static GpuRule rule_of(Spread spread) {
    if (spread == Spread::Entries) return GpuRule::SumsSpreadByEntries;
    return spread == Spread::Rows ? GpuRule::SumsSpreadByRows : GpuRule::SumsOfARow;
  }

  // Whether to cut the sum into panels of `panel` elements that run in sequence. Then the rows that
  // long rows gather stay in the cache. Blocks add the results of their panels by atomics.
  bool in_panels(int64_t extent, int64_t panel) const {
    return spread_ == Spread::Row && cuts_ && !loops_.machine.deterministic &&
           loops_.choice.route == Route::Shared && !is_gathered(loops_.order[2]) &&
           extent > panel && extent % panel == 0 && size_of(loops_.type) >= 4 &&
           loops_.overflow_cache(extent);
  }

  // Fuses the loops over panels, if any, and over rows into the loop over blocks.
  void bind_blocks(const std::string& panels) {
    const std::string rows = rows_.var + ".block";
    if (panels.empty()) return builder_.bind(rows, GpuPart::Block);
    builder_.fuse(panels, rows, rows + ".panel");
    builder_.bind_with_atomics(rows + ".panel", GpuPart::Block);
  }

  // Whether the nest already gathers the sum in a scalar and computes the result from it.
  bool is_gathered(const std::string& sum) const {
    nest::Stmt stmt = loops_.nest.root;
    while (const auto* loop = stmt.as<nest::Forall>()) stmt = loop->body;
    const auto* where = stmt.as<nest::Where>();
    const auto* producer = where ? where->producer.as<nest::Forall>() : nullptr;
    return producer && producer->var == sum;
  }

  // The number of lanes that share a sum of `vectors` vectors. With distributed entries, each lane
  // has at least four vectors if there are enough.
  int64_t lanes_for(int64_t vectors) const {
    const int64_t shared = spread_ == Spread::Entries
                               ? std::clamp<int64_t>(vectors / 4, kLanesOfSum, kWarpSize)
                               : kLanesOfSum;
    return static_cast<int64_t>(
        std::bit_ceil(static_cast<uint64_t>(std::min<int64_t>(shared, vectors))));
  }

  // Splits rows or entries over groups. Returns the loops down to the loop over entries, or over
  // steps of a row.
  NameList split_over_groups(int64_t groups, int64_t steps) {
    const std::string& entry = loops_.order[1];
    if (spread_ == Spread::Row) return split_entries_of_rows(groups, steps);
    if (spread_ == Spread::Entries) {
      const bool short_chunks = are_few(groups) || steps <= kFewSteps;
      const int64_t length = short_chunks ? kFewEntries : 2 * kFewEntries;
      rows_ = {loops_.row + ".chunk", {entry + ".entry"}};
      builder_.add(schedule::SplitEntries{loops_.row, entry, length, rows_.var, rows_.within[0]});
    } else {
      rows_.within = {entry};
    }
    const std::string& rows = rows_.var;
    builder_.split(rows, kWarps * groups, rows + ".block", rows + ".in");
    builder_.split(rows + ".in", groups, rows + ".warp", rows + ".lane");
    return {rows + ".block", rows + ".warp", rows + ".lane", rows_.within[0]};
  }

  // Gives each row a warp, which processes a group of its entries at once. If a lane has one vector
  // per entry, the warps of a multiprocessor take pieces of rows in turn. With more vectors,
  // registers limit the number of warps.
  NameList split_entries_of_rows(int64_t groups, int64_t steps) {
    const std::string& entry = loops_.order[1];
    const bool is_dealt = cuts_ && steps == 1;
    if (is_dealt) rows_ = deal_rows(loops_, kPiece, kMostWarps, kMostWarps, builder_);
    if (cuts_ && !is_dealt) rows_ = cut_rows(loops_, 2 * kShortChunk, builder_);
    builder_.follow_if(is_dealt, GpuRule::SumsOfDealtRows);
    builder_.follow_if(cuts_ && !is_dealt, GpuRule::SumsOfCutRows);
    const std::string step = entry + ".step", lane = entry + ".lane";
    builder_.split_positions(entry, groups, step, lane);
    const std::string& rows = rows_.var;
    builder_.split(rows, is_dealt ? kMostWarps : kWarps, rows + ".block", rows + ".warp");
    NameList order = {rows + ".block", rows + ".warp"};
    order.insert(order.end(), rows_.within.begin(), rows_.within.end());
    order.insert(order.end(), {lane, step});
    return order;
  }

  // Whether there are so few entries that short chunks, one for each group of lanes, do not fill
  // the GPU with warps.
  bool are_few(int64_t groups) const {
    const double warps = kWarpsToFill * std::max(1, loops_.machine.multiprocessors);
    return loops_.count < warps * kFewEntries * static_cast<double>(groups);
  }

  // Stores results that exceed the cache past it, so that it keeps the gathered rows.
  void stream_result() {
    const double bytes = loops_.count * static_cast<double>(size_of(loops_.type));
    if (loops_.choice.route == Route::Shared &&
        bytes > static_cast<double>(loops_.machine.last_cache) / 4) {
      builder_.add(schedule::NonTemporal{loops_.problem.statement->tensor});
      builder_.follow(GpuRule::SumsStreamed);
    }
  }

  void unroll(const std::string& walked, int64_t groups, int64_t steps) {
    if (spread_ == Spread::Entries) {
      // If that takes few registers, processes one entry per lane of a group at once. The reduction
      // then leaves each lane with the sum of one entry.
      const int64_t lanes = kWarpSize / groups;
      const int64_t copies = steps <= kFewSteps ? std::max(lanes, kCopies)
                             : are_few(groups)  ? kCopies / 2
                                                : kCopies / 2 / steps;
      if (copies > 1) builder_.unroll(walked, copies);
    } else if (steps < kCopies) {
      builder_.unroll(walked, std::max<int64_t>(2, kCopies / steps));
    }
  }

  const GpuLoops& loops_;
  const Spread spread_;
  const bool cuts_;
  SpreadLoop rows_;
  ScheduleBuilder builder_;
};

ScheduleBuilder rows_of_entries(const GpuLoops& loops, bool cuts) {
  const std::string entry = loops.order[1], step = entry + ".step", lane = entry + ".lane";
  // The number of lanes that the entries of a row can occupy.
  const auto wanted = std::clamp<uint64_t>(static_cast<uint64_t>(loops.entries / 2), 1, kWarpSize);
  const auto lanes = static_cast<int64_t>(std::bit_ceil(wanted));
  const bool sums = loops.is_summed(entry), groups = lanes < kWarpSize;
  ScheduleBuilder builder(groups ? GpuRule::EntriesOnGroups : GpuRule::EntriesOnWarps,
                          loops.opening);
  builder.follow_if(cuts, GpuRule::EntriesOfCutRows);
  builder.follow_if(sums, GpuRule::EntriesSummed);
  SpreadLoop rows{loops.row, {}};
  if (cuts) rows = cut_rows(loops, kShortChunk, builder);
  const std::string row = rows.var + ".in", row_lane = rows.var + ".lane";
  const std::string warp = rows.var + ".warp", block = rows.var + ".block";
  builder.split(rows.var, kWarps * kWarpSize / lanes, block, groups ? row : warp);
  if (groups) builder.split(row, kWarpSize / lanes, warp, row_lane);
  builder.split_positions(entry, lanes, step, lane);
  NameList order = {block, warp};
  if (groups) order.push_back(row_lane);
  order.insert(order.end(), rows.within.begin(), rows.within.end());
  order.insert(order.end(), {lane, step});
  builder.reorder(order);
  if (sums) builder.precompute(loops.name(".acc"), {});
  if (sums) builder.rfactor(lane, loops.name(".part"));
  builder.bind(block, GpuPart::Block);
  builder.bind(warp, GpuPart::Warp);
  if (groups) builder.bind(row_lane, GpuPart::Lane);
  builder.bind(lane, GpuPart::Lane);
  const int64_t longest = loops.longest > 0 ? (loops.longest + lanes - 1) / lanes : kCopies;
  if (longest > 1) builder.unroll(step, std::min(kCopies / 2, longest));
  return builder;
}

}  // namespace

ScheduleBuilder sums_on_lanes(const GpuLoops& loops) {
  for (const Spread spread : {Spread::Entries, Spread::Rows, Spread::Row}) {
    if (spread != Spread::Row && loops.entries >= kLongRow) continue;
    ScheduleBuilder found =
        first_legal(loops, [&](bool cuts) { return SumScheduler(loops, spread, cuts).run(); });
    if (!found.empty()) return found;
  }
  return {};
}

ScheduleBuilder entries_on_lanes(const GpuLoops& loops) {
  return first_legal(loops, [&](bool cuts) { return rows_of_entries(loops, cuts); });
}

ScheduleBuilder diagonals_on_threads(const GpuLoops& loops) {
  return first_legal(loops, [&](bool) {
    const std::string block = loops.row + ".block", thread = loops.row + ".thread";
    ScheduleBuilder builder(GpuRule::DiagonalsOnThreads, loops.opening);
    builder.split(loops.row, kWarps * kWarpSize, block, thread);
    if (loops.is_summed(loops.order[1])) builder.precompute(loops.name(".acc"), {});
    builder.bind(block, GpuPart::Block);
    builder.bind(thread, GpuPart::Thread);
    builder.unroll(loops.order[1], kCopies / 2);
    return builder;
  });
}

}  // namespace tulle::plan
