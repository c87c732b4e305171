// Puts rows on warps, entries on groups of lanes, and the sums or columns of an entry on the lanes
// of a group.
#include "plan/gpu/rows.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "plan/gpu/loops.h"
#include "plan/gpu/schedule_builder.h"

namespace tulle::plan {

namespace {

using nest::Forall;
using nest::Stmt;

constexpr int64_t kNarrow = 8;      // minimum lanes per entry, if it has that many vectors
constexpr int64_t kVectors = 4;     // maximum vectors of a row per lane, unless all lanes are used
constexpr int64_t kLoads = 8;       // loads in flight per lane, with many warps
constexpr int64_t kMoreLoads = 16;  // the same for long rows
constexpr int64_t kMostLoads = 32;  // the same for few rows: all warps wait for the longest one
constexpr double kLongRow = 256;    // entries
constexpr double kFewRows = 32;     // per multiprocessor
constexpr int64_t kMostCopies = 8;  // of the loop over entries
constexpr double kShortestChunk = 256;  // rows and entries
// factor on the entries from which rows are cut, because of the second kernel
constexpr double kForMerging = 64;
constexpr int64_t kLargestKept = 64;  // maximum elements of a row per lane

class RowScheduler {
 public:
  RowScheduler(const OrderProblem& problem, const OrderChoice& choice, const nest::Nest& nest,
               const Machine& machine)
      : problem_(problem), choice_(choice), nest_(nest), machine_(machine) {}

  ScheduleBuilder run() {
    if (choice_.route != Route::Dense || !find_loops() || !measure()) return {};
    for (const bool cuts : {true, false}) {
      if (cuts &&
          (!walks_entries_ || count_ < kForMerging * static_cast<double>(machine_.many_entries)))
        continue;
      write(cuts);
      if (is_legal(builder_.schedule(), nest_)) return builder_;
    }
    return {};
  }

 private:
  // --- analysis of the loops ---

  bool find_loops() {
    Stmt stmt = nest_.root;
    for (const auto* loop = stmt.as<Forall>(); loop; loop = stmt.as<Forall>()) {
      rows_.push_back(loop->var);
      stmt = loop->body;
    }
    const auto* where = stmt.as<nest::Where>();
    const auto* entries = where ? where->producer.as<Forall>() : nullptr;
    if (rows_.empty() || !entries) return false;
    entry_ = entries->var;
    walks_entries_ = is_stored(entry_);
    count_entries();
    Stmt consumer = where->consumer;
    for (const auto* loop = consumer.as<Forall>(); loop; loop = consumer.as<Forall>()) {
      columns_.push_back(loop->var);
      consumer = loop->body;
    }
    if (!consumer.as<nest::Assign>() || columns_.size() > 1) return false;
    return find_inner(entries->body);
  }

  // Collects the loops of an entry: innermost loops over columns or sums. False if there are other
  // loops.
  bool find_inner(const Stmt& stmt) {
    if (const auto* loop = stmt.as<Forall>()) {
      if (!loop->body.as<nest::Assign>() || is_stored(loop->var)) return false;
      const bool is_column =
          std::find(columns_.begin(), columns_.end(), loop->var) != columns_.end();
      if (!is_column && std::find(sums_.begin(), sums_.end(), loop->var) != sums_.end())
        return false;
      if (!is_column) sums_.push_back(loop->var);
      return true;
    }
    if (const auto* where = stmt.as<nest::Where>())
      return find_inner(where->producer) && find_inner(where->consumer);
    const auto* sequence = stmt.as<nest::Sequence>();
    return !sequence || std::all_of(sequence->stmts.begin(), sequence->stmts.end(),
                                    [&](const Stmt& part) { return find_inner(part); });
  }

  // The operand that stores only some coordinates of the variable, if there is one.
  const expr::Access* storing(const std::string& var) const {
    for (const expr::Access* access : expr::accesses(problem_.statement->value)) {
      for (const Level& level : problem_.tensors->at(access->tensor).format.levels()) {
        if (is_full(level.kind)) continue;
        if (level_variable(level.expr, access->indices, problem_.space) == var) return access;
      }
    }
    return nullptr;
  }
  bool is_stored(const std::string& var) const { return storing(var) != nullptr; }

  // Sets the number of entries, in total and per row.
  void count_entries() {
    const expr::Access* access = storing(entry_);
    const auto count = access ? problem_.counts.find(access->tensor) : problem_.counts.end();
    if (count == problem_.counts.end()) return;
    count_ = count->second;
    per_row_ = count_ / std::max(1.0, problem_.extents.at(rows_.back()));
  }

  // Chooses the number of lanes that share an entry. False if a lane would have too many elements.
  bool measure() {
    lanes_ = 1;
    for (const NameList* loops : {&columns_, &sums_}) {
      for (const std::string& var : *loops) {
        const auto extent = nest_.known_extent(var);
        if (!extent || *extent < 1) return false;
        const int64_t vectors = *extent / width(var);
        const int64_t wanted = std::max(std::min(vectors, kNarrow), vectors / kVectors);
        lanes_ =
            std::max(lanes_, static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(wanted))));
      }
    }
    lanes_ = std::min<int64_t>(lanes_, kWarpSize);
    for (const std::string& var : columns_) {
      if (steps(var) * width(var) > kLargestKept) return false;
    }
    return true;
  }

  // `width` is the number of elements per access in the loop, `steps` the number of accesses per
  // lane.
  int64_t width(const std::string& var) const {
    const DType type = problem_.tensors->at(problem_.statement->tensor).type;
    if (type == DType::Bool) return 1;
    const int64_t most = std::max<int64_t>(1, machine_.vector_bytes / size_of(type));
    return std::gcd(*nest_.known_extent(var), most);
  }
  int64_t steps(const std::string& var) const {
    const int64_t all = lanes_ * width(var);
    return (*nest_.known_extent(var) + all - 1) / all;
  }

  // --- steps ---

  // Fuses the loops over rows, or chunks of rows, into one loop.
  std::string fuse_rows(bool cuts) {
    NameList loops = rows_;
    if (cuts) {
      // All warps could wait for a row with very many entries.
      const double wanted = std::clamp(2 * per_row_, kShortestChunk, kLongestChunk);
      loops.back() = rows_.back() + ".chunk";
      const auto chunk = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(wanted)));
      builder_.add(schedule::SplitRows{rows_.back(), chunk, loops.back(), rows_.back() + ".row"});
    }
    std::string rows = loops[0];
    for (size_t at = 1; at < loops.size(); ++at) {
      const std::string both = concat(rows, ".with.", loops[at]);
      builder_.fuse(rows, loops[at], both);
      rows = both;
    }
    return rows;
  }

  void write(bool cuts) {
    builder_ = ScheduleBuilder(GpuRule::GatheredRows);
    on_lanes_.clear();
    at_the_end_.clear();
    const int64_t groups = kWarpSize / lanes_;
    builder_.follow_if(cuts, GpuRule::GatheredCutRows);
    builder_.follow_if(rows_.size() > 1, GpuRule::GatheredRowsOfSeveralLoops);
    builder_.follow_if(!walks_entries_, GpuRule::GatheredDenseRows);
    builder_.follow(lanes_ == 1  ? GpuRule::GatheredByLanes
                    : groups > 1 ? GpuRule::GatheredByGroups
                                 : GpuRule::GatheredByWarps);
    const std::string step = groups > 1 ? entry_ + ".step" : entry_, lane = entry_ + ".lane";
    const std::string rows = fuse_rows(cuts);
    builder_.split(rows, kWarps, rows + ".block", rows + ".warp");
    if (groups > 1) {
      if (walks_entries_) builder_.split_positions(entry_, groups, step, lane);
      if (!walks_entries_) builder_.split(entry_, groups, step, lane);
      builder_.reorder({lane, step});
    }
    int64_t loads = 0;
    for (const std::string& var : columns_) loads += split_over_lanes(var, false);
    for (const std::string& var : sums_) loads += split_over_lanes(var, true);
    if (groups > 1) builder_.rfactor(lane, problem_.statement->tensor + ".part");
    builder_.bind(rows + ".block", GpuPart::Block);
    builder_.bind(rows + ".warp", GpuPart::Warp);
    for (const std::string& var : on_lanes_) builder_.bind(var, GpuPart::Lane);
    if (groups > 1) builder_.bind(lane, GpuPart::Lane);
    for (const schedule::Rewrite& last : at_the_end_) builder_.add(last);
    // Copies for the wanted number of loads in flight, but no more than a row has entries for. With
    // few rows, warps only wait for loads, so there is no such limit.
    const auto most = has_few_rows() ? kMostCopies : static_cast<int64_t>(per_row_) / groups;
    const auto copies =
        static_cast<uint64_t>(std::clamp<int64_t>(wanted_loads() / std::max<int64_t>(1, loads), 1,
                                                  std::clamp<int64_t>(most, 2, kMostCopies)));
    if (copies > 1) builder_.unroll(step, static_cast<int64_t>(std::bit_floor(copies)));
  }

  bool has_few_rows() const {
    return problem_.extents.at(rows_.back()) <= kFewRows * machine_.multiprocessors;
  }
  int64_t wanted_loads() const {
    if (has_few_rows()) return kMostLoads;
    return per_row_ >= kLongRow ? kMoreLoads : kLoads;
  }

  // Distributes a loop of an entry over the lanes of a group, with vectors. Returns the number of
  // vectors per lane.
  int64_t split_over_lanes(const std::string& var, bool sums) {
    const int64_t wide = width(var), count = steps(var);
    if (lanes_ == 1) return count;
    const std::string step = var + ".step", lane = var + ".lane", element = var + ".in";
    builder_.split(var, lanes_ * wide, step, wide > 1 ? var + ".rest" : lane);
    if (wide > 1) builder_.split(var + ".rest", wide, lane, element);
    NameList order = {lane, step};
    if (wide > 1) order.insert(sums ? order.end() - 1 : order.end(), element);
    builder_.reorder(order);
    if (sums) builder_.rfactor(lane, var + ".part");
    if (sums && wide > 1) {
      builder_.rfactor(element, var + ".sums");
      builder_.reorder({step, element});
    }
    on_lanes_.push_back(lane);
    builder_.follow_if(wide > 1, GpuRule::GatheredVectors);
    if (wide > 1) at_the_end_.emplace_back(schedule::Vectorize{element, wide});
    at_the_end_.emplace_back(schedule::Unroll{step, 0});
    return count;
  }

  const OrderProblem& problem_;
  const OrderChoice& choice_;
  const nest::Nest& nest_;
  const Machine& machine_;
  // loops around the entries; loops of an entry over the result's columns; loops of its sums
  NameList rows_, columns_, sums_;
  std::string entry_;
  bool walks_entries_ = false;
  double count_ = 0, per_row_ = 0;  // entries
  int64_t lanes_ = 1;               // per entry
  ScheduleBuilder builder_;
  NameList on_lanes_;                          // loops to bind to lanes
  std::vector<schedule::Rewrite> at_the_end_;  // steps to append
};

}  // namespace

ScheduleBuilder gather_rows_on_warps(const OrderProblem& problem, const OrderChoice& choice,
                                     const nest::Nest& nest, const Machine& machine) {
  return RowScheduler(problem, choice, nest, machine).run();
}

}  // namespace tulle::plan
