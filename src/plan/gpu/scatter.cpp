// Puts entries and columns on threads, and full sums on lanes. If neither applies, puts the
// iterations of the outermost loop on threads.
#include "plan/gpu/scatter.h"

#include <algorithm>
#include <functional>
#include <numeric>

namespace tulle::plan {

namespace {

constexpr int64_t kThreads = 256;        // per block
constexpr int64_t kChunkOfEntries = 32;  // scattered by a group of threads
constexpr int64_t kChunkOfRows = 64;     // summed by a thread
constexpr int64_t kChunkOfSum = 1024;    // summed by a warp

class Scatter {
 public:
  explicit Scatter(const GpuLoops& loops) : loops_(loops) {}

  // Gives each thread a vector of columns. It adds entries one by one to different rows of the
  // result; it first sums the rows of a dense operand.
  ScheduleBuilder columns() {
    if (!loops_.contiguous || loops_.order.size() < 2 || loops_.is_summed(loops_.order.back()))
      return {};
    begin(GpuRule::ScatteredColumns);
    const std::string& column = loops_.order.back();
    const auto extent = loops_.nest.known_extent(column);
    const int64_t width = extent ? std::gcd(*extent, loops_.vector) : 1;
    // `panel` is empty if a group of threads covers all columns
    std::string vectors = column, panel;
    NameList inside;
    if (width > 1) {
      inside = {column + ".in"};
      vectors = column + ".vector";
      builder_.split(column, width, vectors, inside[0]);
    }
    int64_t count = extent ? *extent / width : kWarpSize + 1;
    if (count > kWarpSize) {
      panel = column + ".panel";
      builder_.split(vectors, kWarpSize, panel, column + ".lane");
      vectors = column + ".lane";
      count = kWarpSize;
    }

    const NameList between(loops_.order.begin() + 1, loops_.order.end() - 1);
    const Chunks chunks = cut(between);
    const std::string block = chunks.var + ".block", in = chunks.var + ".in";
    builder_.split(chunks.var, kThreads / count, block, in);
    NameList order = {block, in, vectors};
    if (!panel.empty()) order.insert(order.begin(), panel);
    order.insert(order.end(), chunks.within.begin(), chunks.within.end());
    order.insert(order.end(), inside.begin(), inside.end());
    builder_.reorder(order);
    builder_.fuse(in, vectors, chunks.var + ".thread");
    if (!panel.empty()) builder_.fuse(panel, block, chunks.var + ".panel");
    builder_.bind_with_atomics(panel.empty() ? block : chunks.var + ".panel", GpuPart::Block);
    builder_.bind_with_atomics(chunks.var + ".thread", GpuPart::Thread);
    builder_.follow_if(!panel.empty(), GpuRule::ScatteredColumnsInPanels);
    builder_.follow_if(width > 1, GpuRule::ScatteredColumnsInVectors);
    if (chunks.are_summed) builder_.precompute(loops_.name(".acc"), inside);
    if (width > 1) builder_.vectorize(inside[0], width);
    builder_.unroll(chunks.within.back(), kCopies / 2);
    return builder_;
  }

  // Gives each thread an entry.
  ScheduleBuilder entries() {
    const bool sums_rows = loops_.is_summed(loops_.order[0]) || !loops_.lists_entries;
    if (!is_of_rows() || (sums_rows && loops_.is_summed(loops_.order[1]))) return {};
    begin(GpuRule::ScatteredEntries);
    const std::string chunk = cut_entries(1);
    builder_.split(chunk, kThreads, chunk + ".block", chunk + ".thread");
    builder_.bind_with_atomics(chunk + ".block", GpuPart::Block);
    builder_.bind_with_atomics(chunk + ".thread", GpuPart::Thread);
    return builder_;
  }

  // For the sum of all entries: each lane sums some, and a warp combines the sums of its lanes.
  ScheduleBuilder sum_of_entries() {
    if (!is_of_rows() || !loops_.is_summed(loops_.order[1])) return {};
    begin(GpuRule::SumOfAllEntries);
    const std::string chunk = cut_entries(kChunkOfEntries), lane = chunk + ".lane";
    builder_.split(chunk, kWarpSize, chunk + ".group", lane);
    return warps_of(chunk + ".group", lane);
  }

  // The same for loops over dense operands: neighbouring elements run on neighbouring lanes.
  ScheduleBuilder sum_of_all() {
    const NameList& order = loops_.order;
    const bool all = std::all_of(order.begin(), order.end(),
                                 [&](const std::string& var) { return loops_.is_summed(var); });
    if (!all || loops_.walks_entries) return {};
    begin(order.size() == 1 ? GpuRule::SumOfOneLoop : GpuRule::SumOfAll);
    std::string outer = order[0], last = order.back();
    if (order.size() == 1) {
      builder_.split(last, kChunkOfSum, last + ".chunk", last + ".of");
      outer = last + ".chunk";
      last += ".of";
    }
    const std::string step = last + ".step", lane = last + ".lane";
    builder_.split(last, kWarpSize, step, lane);
    NameList inner = {lane};
    for (size_t at = 1; at + 1 < order.size(); ++at) inner.push_back(order[at]);
    inner.push_back(step);
    builder_.reorder(inner);
    return warps_of(outer, lane);
  }

  // Works for any loops.
  ScheduleBuilder iterations() {
    begin(GpuRule::ScatteredIterations);
    builder_.split(loops_.row, kThreads / 2, loops_.row + ".block", loops_.row + ".thread");
    builder_.bind_with_atomics(loops_.row + ".block", GpuPart::Block);
    builder_.bind_with_atomics(loops_.row + ".thread", GpuPart::Thread);
    return builder_;
  }

 private:
  void begin(GpuRule rule) { builder_ = ScheduleBuilder(rule, loops_.opening); }

  // The chunk of a group of threads, and the loops that each thread runs inside it.
  struct Chunks {
    std::string var;
    NameList within;
    bool are_summed = false;  // a thread sums its chunk into one element
  };
  Chunks cut(const NameList& between) {
    if (between.size() == 1 && is_of_rows(3)) {
      builder_.follow(GpuRule::ScatteredColumnsOfEntries);
      return {cut_entries(kChunkOfEntries), {between[0] + ".entry"}, false};
    }
    Chunks rows{loops_.row + ".chunk", {loops_.row + ".row"}, true};
    builder_.split(loops_.row, kChunkOfRows, rows.var, rows.within[0]);
    for (const std::string& var : between) {
      rows.within.push_back(var);
      rows.are_summed &= loops_.is_summed(var);
    }
    builder_.follow(rows.are_summed ? GpuRule::ScatteredColumnsOfSummedRows
                                    : GpuRule::ScatteredColumnsOfRows);
    return rows;
  }

  // Whether the first two loops walk over the entries of rows.
  bool is_of_rows(size_t count = 2) const {
    return loops_.order.size() == count && loops_.walks_entries;
  }

  // Cuts all entries into chunks of that length. Returns the loop over chunks.
  std::string cut_entries(int64_t length) {
    const std::string& entry = loops_.order[1];
    std::string chunk = loops_.row + ".chunk";
    builder_.add(schedule::SplitEntries{loops_.row, entry, length, chunk, entry + ".entry"});
    return chunk;
  }

  ScheduleBuilder warps_of(const std::string& outer, const std::string& lane) {
    builder_.rfactor(lane, loops_.name(".part"));
    builder_.split(outer, kWarps, outer + ".block", outer + ".warp");
    builder_.bind_with_atomics(outer + ".block", GpuPart::Block);
    builder_.bind_with_atomics(outer + ".warp", GpuPart::Warp);
    builder_.bind(lane, GpuPart::Lane);
    return builder_;
  }

  const GpuLoops& loops_;
  ScheduleBuilder builder_;
};

}  // namespace

ScheduleBuilder scatter_by_atomics(const GpuLoops& loops) {
  for (const auto rule : {&Scatter::columns, &Scatter::entries, &Scatter::sum_of_entries,
                          &Scatter::sum_of_all, &Scatter::iterations}) {
    ScheduleBuilder builder = (Scatter(loops).*rule)();
    if (!builder.empty() && is_legal(builder.schedule(), loops.nest)) return builder;
  }
  return {};
}

}  // namespace tulle::plan
