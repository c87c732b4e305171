// Groups of lanes that share a row or the sum for an entry.
#include "plan/gpu/sums.h"

#include <algorithm>
#include <bit>
#include <numeric>

namespace tulle::plan {

namespace {

constexpr int64_t kLanesOfSum = 8;   // that share a contiguous sum of a row, at least
constexpr int64_t kFewSteps = 4;     // vectors of a lane that leave registers for several entries
constexpr double kLongRow = 128;     // entries that keep several groups of lanes busy
constexpr double kFewEntries = 8;    // of a chunk that a group of lanes has
constexpr double kWarpsToFill = 32;  // of a multiprocessor
constexpr int64_t kPiece = 128;      // entries of a long row that a warp takes at once

// What the groups of lanes of a warp share: all entries, equally many each, whatever rows they are
// of; rows, one entry after the other, where entries cannot be counted off like that (they are
// padded, or merged with others); or the entries of one row.
enum class Spread : uint8_t { Entries, Rows, Row };

class SumScheduler {
 public:
  SumScheduler(const GpuLoops& loops, Spread spread, bool cuts)
      : loops_(loops),
        spread_(spread),
        cuts_(cuts),
        rows_{loops.row, {}},
        text_(rule_of(spread), loops.opening) {}

  ScheduleText run() {
    const std::string entry = loops_.order[1], sum = loops_.order[2];
    const auto extent = loops_.nest.known_extent(sum);
    if (loops_.is_summed(entry) || !extent || *extent < 1) return {};
    const int64_t width = std::gcd(*extent, loops_.vector), vectors = *extent / width;
    const int64_t lanes = lanes_for(vectors), groups = kWarpSize / lanes;
    const bool panels = in_panels(*extent, lanes * width);
    const int64_t steps = panels ? 1 : (vectors + lanes - 1) / lanes;
    // A step is a panel of its own, the outermost loop, or one of those of a lane.
    const std::string sum_step = sum + (panels ? "_panel" : "_step"), sum_lane = sum + "_lane";
    const std::string element = sum + "_in";
    Names order = split_over_groups(groups, steps);
    const std::string walked = order.back();
    text_.split(sum, lanes * width, sum_step, width > 1 ? sum + "_rest" : sum_lane);
    if (width > 1) text_.split(sum + "_rest", width, sum_lane, element);
    Names inside = {sum_lane};
    if (panels) {
      order.insert(order.begin(), sum_step);
    } else {
      inside.push_back(sum_step);
    }
    // The products of one vector are added one to the other, by fused operations; those of several,
    // and of halves, of which a vector has many, go into a vector of sums first.
    const bool into_vector = width > 1 && (steps > 1 || loops_.element_bytes < 4);
    if (width > 1) inside.insert(into_vector ? inside.begin() + 1 : inside.end(), element);
    if (is_gathered(sum)) {  // what is computed of the sum stands beside its loops
      text_.reorder(order);
      text_.reorder(inside);
    } else {
      order.insert(order.end(), inside.begin(), inside.end());
      text_.reorder(order);
      if (!panels) text_.precompute(loops_.name("_acc"), {});
    }
    text_.rfactor(sum_lane, loops_.name("_part"));
    if (into_vector) {
      text_.rfactor(element, loops_.name("_sums"));
      if (!panels) text_.reorder({sum_step, element});
    }
    bind_blocks(panels ? sum_step : "");
    text_.bind(rows_.var + "_warp", "warp");
    text_.bind(spread_ == Spread::Row ? entry + "_lane" : rows_.var + "_lane", "lane");
    text_.bind(sum_lane, "lane");
    if (into_vector) text_.vectorize(element, width);
    if (width > 1 && !into_vector) text_.unroll(element, 0);
    if (steps > 1) text_.unroll(sum_step, steps <= kCopies ? 0 : kCopies);
    unroll(walked, groups, steps);
    if (spread_ == Spread::Row && !panels) stream_result();
    text_.follow_if(panels, GpuRule::SumsInPanels);
    text_.follow_if(steps > 1, GpuRule::SumsInSteps);
    text_.follow_if(into_vector, GpuRule::SumsInVectors);
    text_.follow_if(width > 1 && !into_vector, GpuRule::SumsOfOneVector);
    text_.follow_if(is_gathered(sum), GpuRule::SumsGathered);
    return text_;
  }

 private:
  using Names = GpuLoops::Names;

  static GpuRule rule_of(Spread spread) {
    if (spread == Spread::Entries) return GpuRule::SumsSpreadByEntries;
    return spread == Spread::Rows ? GpuRule::SumsSpreadByRows : GpuRule::SumsOfARow;
  }

  // Whether panels of the sum, of so many elements, come one after the other: what the entries of
  // long rows gather stays in the cache then, and blocks add up what panels come to.
  bool in_panels(int64_t extent, int64_t panel) const {
    return spread_ == Spread::Row && cuts_ && !loops_.machine.deterministic &&
           loops_.choice.route == Route::Shared && !is_gathered(loops_.order[2]) &&
           extent > panel && extent % panel == 0 && size_of(loops_.type) >= 4 &&
           loops_.overflow_cache(extent);
  }

  // The loop over blocks, made of that over panels, if there is one, and that over rows.
  void bind_blocks(const std::string& panels) {
    const std::string rows = rows_.var + "_block";
    if (panels.empty()) return text_.bind(rows, "block");
    text_.fuse(panels, rows, rows + "_panel");
    text_.add(concat("bind(", rows, "_panel, block, sums=atomics)"));
  }

  // Whether the nest gathers the sum in a scalar already, of which it computes the result.
  bool is_gathered(const std::string& sum) const {
    nest::Stmt stmt = loops_.nest.root;
    while (const auto* loop = stmt.as<nest::Forall>()) stmt = loop->body;
    const auto* where = stmt.as<nest::Where>();
    const auto* producer = where ? where->producer.as<nest::Forall>() : nullptr;
    return producer && producer->var == sum;
  }

  // How many lanes share a sum over so many vectors. Of entries that are spread evenly each has
  // four vectors, if there are so many.
  int64_t lanes_for(int64_t vectors) const {
    const int64_t shared = spread_ == Spread::Entries
                               ? std::clamp<int64_t>(vectors / 4, kLanesOfSum, kWarpSize)
                               : kLanesOfSum;
    return static_cast<int64_t>(
        std::bit_ceil(static_cast<uint64_t>(std::min<int64_t>(shared, vectors))));
  }

  // The loops down to that over entries, or over steps of a row.
  Names split_over_groups(int64_t groups, int64_t steps) {
    const std::string& entry = loops_.order[1];
    if (spread_ == Spread::Row) return split_entries_of_rows(groups, steps);
    if (spread_ == Spread::Entries) {
      const bool short_chunks = are_few(groups) || steps <= kFewSteps;
      const double length = short_chunks ? kFewEntries : 2 * kFewEntries;
      rows_ = {loops_.row + "_chunk", {entry + "_entry"}};
      text_.add(concat("split_entries(", loops_.row, ", ", entry, ", ", length, ", ", rows_.var,
                       ", ", rows_.within[0], ")"));
    } else {
      rows_.within = {entry};
    }
    const std::string& rows = rows_.var;
    text_.split(rows, kWarps * groups, rows + "_block", rows + "_in");
    text_.split(rows + "_in", groups, rows + "_warp", rows + "_lane");
    return {rows + "_block", rows + "_warp", rows + "_lane", rows_.within[0]};
  }

  // A warp for a row, so many of its entries at once. Pieces of rows go round the warps of a
  // multiprocessor where a lane has one vector of an entry: with more there is no room for so many
  // warps.
  Names split_entries_of_rows(int64_t groups, int64_t steps) {
    const std::string& entry = loops_.order[1];
    const bool is_dealt = cuts_ && steps == 1;
    if (is_dealt) rows_ = deal_rows(loops_, kPiece, kMostWarps, kMostWarps, text_);
    if (cuts_ && !is_dealt) rows_ = cut_rows(loops_, 2 * kShortChunk, text_);
    text_.follow_if(is_dealt, GpuRule::SumsOfDealtRows);
    text_.follow_if(cuts_ && !is_dealt, GpuRule::SumsOfCutRows);
    const std::string step = entry + "_step", lane = entry + "_lane";
    text_.split_positions(entry, groups, step, lane);
    const std::string& rows = rows_.var;
    text_.split(rows, is_dealt ? kMostWarps : kWarps, rows + "_block", rows + "_warp");
    Names order = {rows + "_block", rows + "_warp"};
    order.insert(order.end(), rows_.within.begin(), rows_.within.end());
    order.insert(order.end(), {lane, step});
    return order;
  }

  // Whether short chunks of entries, one for each group of lanes, leave room for more warps.
  bool are_few(int64_t groups) const {
    const double warps = kWarpsToFill * std::max(1, loops_.machine.multiprocessors);
    return loops_.count < warps * kFewEntries * static_cast<double>(groups);
  }

  // Results that the cache cannot hold leave it to what is gathered.
  void stream_result() {
    const double bytes = loops_.count * static_cast<double>(size_of(loops_.type));
    if (loops_.choice.route == Route::Shared &&
        bytes > static_cast<double>(loops_.machine.last_cache) / 4) {
      text_.add(concat("nontemporal(", loops_.problem.statement->tensor, ")"));
      text_.follow(GpuRule::SumsStreamed);
    }
  }

  void unroll(const std::string& walked, int64_t groups, int64_t steps) {
    if (spread_ == Spread::Entries) {
      // Where that takes few registers, as many entries at once as a group has lanes, each of which
      // is left with the sum of one.
      const int64_t lanes = kWarpSize / groups;
      const int64_t copies = steps <= kFewSteps ? std::max(lanes, kCopies)
                             : are_few(groups)  ? kCopies / 2
                                                : kCopies / 2 / steps;
      if (copies > 1) text_.unroll(walked, copies);
    } else if (steps < kCopies) {
      text_.unroll(walked, std::max<int64_t>(2, kCopies / steps));
    }
  }

  const GpuLoops& loops_;
  const Spread spread_;
  const bool cuts_;
  SpreadLoop rows_;
  ScheduleText text_;
};

ScheduleText rows_of_entries(const GpuLoops& loops, bool cuts) {
  const std::string entry = loops.order[1], step = entry + "_step", lane = entry + "_lane";
  // As many lanes as the entries of a row can keep busy.
  const auto wanted = std::clamp<uint64_t>(static_cast<uint64_t>(loops.entries / 2), 1, kWarpSize);
  const auto lanes = static_cast<int64_t>(std::bit_ceil(wanted));
  const bool sums = loops.is_summed(entry), groups = lanes < kWarpSize;
  ScheduleText text(groups ? GpuRule::EntriesOnGroups : GpuRule::EntriesOnWarps, loops.opening);
  text.follow_if(cuts, GpuRule::EntriesOfCutRows);
  text.follow_if(sums, GpuRule::EntriesSummed);
  SpreadLoop rows{loops.row, {}};
  if (cuts) rows = cut_rows(loops, kShortChunk, text);
  const std::string row = rows.var + "_in", row_lane = rows.var + "_lane";
  const std::string warp = rows.var + "_warp", block = rows.var + "_block";
  text.split(rows.var, kWarps * kWarpSize / lanes, block, groups ? row : warp);
  if (groups) text.split(row, kWarpSize / lanes, warp, row_lane);
  text.split_positions(entry, lanes, step, lane);
  GpuLoops::Names order = {block, warp};
  if (groups) order.push_back(row_lane);
  order.insert(order.end(), rows.within.begin(), rows.within.end());
  order.insert(order.end(), {lane, step});
  text.reorder(order);
  if (sums) text.precompute(loops.name("_acc"), {});
  if (sums) text.rfactor(lane, loops.name("_part"));
  text.bind(block, "block");
  text.bind(warp, "warp");
  if (groups) text.bind(row_lane, "lane");
  text.bind(lane, "lane");
  const int64_t longest = loops.longest > 0 ? (loops.longest + lanes - 1) / lanes : kCopies;
  if (longest > 1) text.unroll(step, std::min(kCopies / 2, longest));
  return text;
}

}  // namespace

ScheduleText sums_on_lanes(const GpuLoops& loops) {
  for (const Spread spread : {Spread::Entries, Spread::Rows, Spread::Row}) {
    if (spread != Spread::Row && loops.entries >= kLongRow) continue;
    ScheduleText found =
        first_legal(loops, [&](bool cuts) { return SumScheduler(loops, spread, cuts).run(); });
    if (!found.empty()) return found;
  }
  return {};
}

ScheduleText entries_on_lanes(const GpuLoops& loops) {
  return first_legal(loops, [&](bool cuts) { return rows_of_entries(loops, cuts); });
}

ScheduleText diagonals_on_threads(const GpuLoops& loops) {
  return first_legal(loops, [&](bool) {
    const std::string block = loops.row + "_block", thread = loops.row + "_thread";
    ScheduleText text(GpuRule::DiagonalsOnThreads, loops.opening);
    text.split(loops.row, kWarps * kWarpSize, block, thread);
    if (loops.is_summed(loops.order[1])) text.precompute(loops.name("_acc"), {});
    text.bind(block, "block");
    text.bind(thread, "thread");
    text.unroll(loops.order[1], kCopies / 2);
    return text;
  });
}

}  // namespace tulle::plan
