// Rules for schedules on a GPU: which loops run on blocks, warps, lanes and threads follows from
// which are dense and contiguous, which walk over entries and which are summed.
#include "plan/choose_gpu_schedule.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <numeric>

#include "plan/gpu_rows.h"
#include "plan/wide_sums.h"
#include "support/check.h"
#include "support/half.h"

namespace tulle::plan {

using expr::Access;

namespace {

constexpr int64_t kLanes = 32;        // of a warp
constexpr int64_t kWarps = 4;         // of a block
constexpr int64_t kMostWarps = 32;    // of a block that has a multiprocessor to itself
constexpr int64_t kCopies = 8;        // of a loop over entries: so many loads are under way
constexpr int64_t kLanesOfSum = 8;    // that share a contiguous sum of a row, at least
constexpr int64_t kFewLanes = 4;      // that share one wherever entries are spread evenly
constexpr int64_t kNarrowPanel = 32;  // columns, at least
constexpr int64_t kShortChunk = 64;   // rows and entries, at least
constexpr double kLongestChunk = 1024;
constexpr double kFewRows = 4096;
constexpr double kShortRow = 16;       // entries below which neighbours share few columns
constexpr double kLongRow = 128;       // entries that keep several groups of lanes busy
constexpr double kReused = 16;         // gathers of a row from which on it should stay in the cache
constexpr double kFewEntries = 8;      // of a chunk that a group of lanes has
constexpr double kWarpsToFill = 32;    // of a multiprocessor
constexpr double kShareOfCache = 0.7;  // that gathered rows may take

class GpuScheduler {
 public:
  GpuScheduler(const OrderProblem& problem, const OrderChoice& choice, const nest::Nest& nest,
               const Machine& machine)
      : problem_(problem),
        choice_(choice),
        nest_(with_wide_result(nest, problem.statement->tensor)),
        machine_(machine),
        order_(choice.order) {
    // What runs once is no loop to spread.
    const auto first = std::find_if(order_.begin(), order_.end(), [&](const std::string& var) {
      return nest.known_extent(var) != 1 || is_summed(var);
    });
    turns_ = first != order_.begin() && first != order_.end();
    if (turns_) std::rotate(order_.begin(), first, order_.end());
    type_ = problem.tensors->at(problem.statement->tensor).type;
    element_bytes_ = reads_halves() ? size_of(DType::Float16) : size_of(type_);
    if (type_ != DType::Bool) vector_ = std::max<int64_t>(1, machine.vector_bytes / element_bytes_);
  }

  std::string run() {
    const bool plain = choice_.route == Route::Dense || choice_.route == Route::Shared;
    if (order_.size() < 2 || !plain || is_summed(order_[0])) return {};
    const bool empty = std::any_of(order_.begin(), order_.end(), [&](const std::string& var) {
      return nest_.known_extent(var) == 0;
    });
    if (empty) return {};
    row_ = order_[0];
    find_entries();
    const bool contiguous = choice_.vectorized || turns_, sums = is_summed(order_.back());
    if (contiguous && !sums) {
      if (take(&GpuScheduler::columns_and_entries_on_lanes)) return text_;
      if (take(&GpuScheduler::columns_on_threads)) return text_;
    } else if (contiguous && walks_entries_ && order_.size() == 3) {
      if (entries_ < kLongRow && take(&GpuScheduler::spread_entries_and_sum_on_lanes)) return text_;
      if (entries_ < kLongRow && take(&GpuScheduler::rows_and_sum_on_lanes)) return text_;
      if (take(&GpuScheduler::entries_and_sum_on_lanes)) return text_;
    } else if (walks_entries_ && order_.size() == 2) {
      if (take(&GpuScheduler::entries_on_lanes)) return text_;
    }
    return {};
  }

 private:
  using Names = std::vector<std::string>;

  // Whether the rule applies and leads to a legal schedule.
  bool take(bool (GpuScheduler::*rule)()) {
    for (const bool cuts : {true, false}) {
      const bool wanted = are_many() || rule == &GpuScheduler::rows_and_sum_on_lanes;
      if (cuts && (!walks_entries_ || !wanted || needs_one_order())) continue;
      text_.clear();
      rows_ = row_;
      within_.clear();
      cuts_ = cuts;
      if (!(this->*rule)()) return false;
      try {
        schedule::apply(schedule::parse_schedule(text_), nest_);
        return true;
      } catch (const UserError&) {
        continue;
      }
    }
    return false;
  }

  // --- what the loops are ---

  // Whether the sum of a row must not be that of pieces which are added up in any order.
  bool needs_one_order() const {
    return machine_.deterministic && is_float(type_) && choice_.route == Route::Dense;
  }
  // Whether rows are cut, since one may have so many entries that all others wait for it.
  bool are_many() const { return count_ >= static_cast<double>(machine_.many_entries); }

  bool is_summed(const std::string& var) const { return problem_.reduced.contains(var); }

  // Whether a dense operand of a half type lies along the innermost loop.
  bool reads_halves() const {
    const std::vector<const Access*> reads = expr::accesses(problem_.statement->value);
    return std::any_of(reads.begin(), reads.end(), [&](const Access* access) {
      const expr::TensorType& type = problem_.tensors->at(access->tensor);
      return is_half(type.type) && type.format.is_dense() && !access->indices.empty() &&
             access->indices.back() == order_.back();
    });
  }

  // Whether the second loop walks over the entries that one operand stores in a row, and how many
  // that are.
  void find_entries() {
    for (const Access* access : expr::accesses(problem_.statement->value)) {
      const expr::TensorType& type = problem_.tensors->at(access->tensor);
      const auto& levels = type.format.levels();
      if (levels.size() < 2 || is_full(levels[1].kind) || !is_full(levels[0].kind)) continue;
      if (level_variable(levels[0].expr, access->indices, problem_.space) != row_) continue;
      if (level_variable(levels[1].expr, access->indices, problem_.space) != order_[1]) continue;
      walks_entries_ = true;
      const auto count = problem_.counts.find(access->tensor);
      if (count == problem_.counts.end()) continue;
      count_ = count->second;
      entries_ = count_ / std::max(1.0, problem_.extents.at(row_));
    }
  }

  // How many columns a panel has: as many as a warp takes with vectors of this width, fewer where
  // the rows that are gathered again and again would not stay in the cache otherwise.
  int64_t panel(const std::string& column, int64_t width) const {
    int64_t columns = kLanes * width;
    if (const auto extent = nest_.known_extent(column))
      columns =
          std::min(columns, static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(*extent))));
    const double rows = problem_.extents.at(order_[1]);
    const bool reused = entries_ * problem_.extents.at(row_) >= kReused * rows;
    const double room = kShareOfCache * static_cast<double>(machine_.last_cache);
    const auto taken = [&] { return rows * static_cast<double>(columns * element_bytes_); };
    while (walks_entries_ && reused && columns >= 2 * kNarrowPanel && taken() > room) columns /= 2;
    return columns;
  }

  // How many loads are under way: more where there are too few rows to hide their latency.
  int64_t copies() const {
    const bool few = walks_entries_ && problem_.extents.at(row_) <= kFewRows;
    return few ? 2 * kCopies : kCopies;
  }

  // --- steps ---

  void add(const std::string& step) { text_ += (text_.empty() ? "" : "; ") + step; }
  void split(const std::string& var, int64_t length, const std::string& outer,
             const std::string& inner) {
    add(concat("split(", var, ", ", length, ", ", outer, ", ", inner, ")"));
  }
  void bind(const std::string& var, const char* part) {
    add(concat("bind(", var, ", ", part, ")"));
  }
  void unroll(const std::string& var, int64_t copies) {
    add(concat("unroll(", var, ", ", copies, ")"));
  }
  void reorder(const Names& names) { add(concat("reorder(", list(names), ")")); }

  static std::string list(const Names& names) {
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
    return text;
  }

  std::string name(const char* what) const { return problem_.statement->tensor + what; }

  // Columns as vectors of the width that divides them, in panels that come one after the other
  // where a row has several; the loops over panels, over vectors and over the elements of one, if
  // there are such.
  struct Columns {
    std::string panels, vectors, elements;
    std::string pairs;  // the loop over two vectors that a thread has of a panel
    int64_t width = 1;  // of a vector
    int64_t count = 0;  // of vectors in a panel
  };
  Columns split_columns(const std::string& column, bool may_pair) {
    const auto extent = nest_.known_extent(column);
    Columns columns;
    columns.width = extent ? std::gcd(*extent, vector_) : 1;
    columns.count = panel(column, columns.width) / columns.width;
    columns.vectors = column;
    if (columns.width > 1) {
      columns.elements = column + "_in";
      columns.vectors = column + "_vector";
      split(column, columns.width, columns.vectors, columns.elements);
    }
    const int64_t all = extent ? *extent / columns.width : columns.count + 1;
    if (all > columns.count) {
      columns.panels = column + "_panel";
      const bool pairs = may_pair && columns.count == kLanes && all % (2 * kLanes) == 0;
      if (pairs) columns.pairs = column + "_pair";
      const std::string lanes = column + "_lane", both = pairs ? column + "_lanes" : lanes;
      split(columns.vectors, pairs ? 2 * kLanes : columns.count, columns.panels, both);
      if (pairs) split(both, kLanes, columns.pairs, lanes);
      columns.vectors = lanes;
    } else {
      columns.count = all;
    }
    return columns;
  }

  // Where there are many entries, one row may have so many that all others would wait for it: rows
  // go to chunks of equally many entries, at least `length`.
  void cut_rows(int64_t length) {
    if (!cuts_) return;
    const double wanted = std::clamp(2 * entries_, static_cast<double>(length), kLongestChunk);
    rows_ = row_ + "_chunk";
    within_ = {row_ + "_row"};
    add(concat("split_rows(", row_, ", ", std::bit_ceil(static_cast<uint64_t>(wanted)), ", ", rows_,
               ", ", within_[0], ")"));
  }

  // A block for each multiprocessor, with rows that lie together, whose gathers may find in its
  // cache what their neighbours fetched: in as many rounds as chunks stay short, a chunk for each
  // group of lanes that has the columns of one.
  void split_over_multiprocessors(int64_t lanes) {
    const int64_t groups = std::max<int64_t>(1, kMostWarps * kLanes / lanes);
    const auto blocks = std::max<int64_t>(1, machine_.multiprocessors);
    const double work = count_ + problem_.extents.at(row_);
    const double wanted = std::clamp(entries_ / 2, 2.0 * kShortChunk, kLongestChunk / 2);
    const double each = work / static_cast<double>(blocks * groups);
    const int64_t rounds = std::max<int64_t>(1, std::llround(each / wanted));
    rows_ = row_ + "_chunk";
    within_ = {row_ + "_row"};
    add(concat("split_rows(", row_, ", ", kShortChunk, ", ", rows_, ", ", within_[0], ", ",
               blocks * groups * rounds, ")"));
    if (rounds == 1) return split(rows_, groups, rows_ + "_block", rows_ + "_in");
    split(rows_, groups * rounds, rows_ + "_block", rows_ + "_rest");
    split(rows_ + "_rest", groups, rows_ + "_round", rows_ + "_in");
    within_.insert(within_.begin(), rows_ + "_round");
  }

  // The loop over blocks, made of that over panels and that over rows.
  void bind_blocks(const Columns& columns) {
    std::string block = rows_ + "_block";
    if (!columns.panels.empty()) {
      add(concat("fuse(", columns.panels, ", ", block, ", ", rows_, "_panel_block)"));
      block = rows_ + "_panel_block";
    }
    bind(block, "block");
  }

  void stream_result() {
    double bytes = static_cast<double>(size_of(type_));
    for (const std::string& var : order_) bytes *= is_summed(var) ? 1 : problem_.extents.at(var);
    if (choice_.route == Route::Dense && problem_.statement->adds_to.empty() &&
        bytes > static_cast<double>(machine_.last_cache) / 4)
      add(concat("nontemporal(", problem_.statement->tensor, ")"));
  }

  // --- rules ---

  // Rows and the columns of a row on threads, each with a vector of columns; what lies between is
  // walked over by every thread.
  bool columns_on_threads() {
    const Names between(order_.begin() + 1, order_.end() - 1);
    const bool sums_entries = walks_entries_ && is_summed(order_[1]);
    const Columns columns =
        split_columns(order_.back(), sums_entries && (!cuts_ || entries_ < kShortRow));
    if (cuts_ && columns.pairs.empty()) {
      split_over_multiprocessors(columns.count);
    } else {
      cut_rows(columns.count < kLanes ? kShortChunk : 2 * kShortChunk);
      split(rows_, std::max<int64_t>(1, kWarps * kLanes / columns.count), rows_ + "_block",
            rows_ + "_in");
    }
    Names order;
    if (!columns.panels.empty()) order.push_back(columns.panels);
    for (const std::string& var : {rows_ + "_block", rows_ + "_in", columns.vectors})
      order.push_back(var);
    order.insert(order.end(), within_.begin(), within_.end());
    order.insert(order.end(), between.begin(), between.end());
    Names inside;
    if (!columns.pairs.empty()) inside.push_back(columns.pairs);
    if (columns.width > 1) inside.push_back(columns.elements);
    order.insert(order.end(), inside.begin(), inside.end());
    reorder(order);
    add(concat("fuse(", rows_, "_in, ", columns.vectors, ", ", rows_, "_thread)"));
    gather_sums(between, inside);
    bind_blocks(columns);
    bind(rows_ + "_thread", "thread");
    if (columns.width > 1) add(concat("vectorize(", columns.elements, ", ", columns.width, ")"));
    const bool pairs = !columns.pairs.empty();
    if (pairs) unroll(columns.pairs, 0);
    if (!between.empty() && is_summed(between.back()))
      unroll(between.back(), pairs ? copies() / 2 : copies());
    stream_result();
    return true;
  }

  // Sums over the loops that each thread runs go into its registers.
  void gather_sums(const Names& loops, const Names& columns) {
    const auto first = std::find_if(loops.begin(), loops.end(),
                                    [&](const std::string& var) { return is_summed(var); });
    if (first == loops.end()) return;
    Names inside;
    std::copy_if(first, loops.end(), std::back_inserter(inside),
                 [&](const std::string& var) { return !is_summed(var); });
    inside.insert(inside.end(), columns.begin(), columns.end());
    add(concat("precompute(", name("_acc"), ", (", list(inside), "))"));
  }

  // A warp for a long row: where its columns leave lanes over, these take several entries at once.
  bool columns_and_entries_on_lanes() {
    if (order_.size() != 3 || !walks_entries_ || !is_summed(order_[1])) return false;
    if (cuts_) return false;  // chunks are equal already
    const Columns columns = split_columns(order_.back(), false);
    const int64_t group = kLanes / columns.count;
    if (!std::has_single_bit(static_cast<uint64_t>(columns.count)) || group < 2) return false;
    const std::string entry = order_[1], step = entry + "_step", lane = entry + "_lane";
    add(concat("split_positions(", entry, ", ", group, ", ", step, ", ", lane, ")"));
    split(rows_, kWarps, rows_ + "_block", rows_ + "_warp");
    Names order;
    if (!columns.panels.empty()) order.push_back(columns.panels);
    for (const std::string& var : {rows_ + "_block", rows_ + "_warp", columns.vectors, lane, step})
      order.push_back(var);
    if (columns.width > 1) order.push_back(columns.elements);
    reorder(order);
    add(concat("precompute(", name("_acc"), ", (", columns.elements, "))"));
    add(concat("rfactor(", lane, ", ", name("_part"), ")"));
    bind_blocks(columns);
    bind(rows_ + "_warp", "warp");
    bind(columns.vectors, "lane");
    bind(lane, "lane");
    if (columns.width > 1) add(concat("vectorize(", columns.elements, ", ", columns.width, ")"));
    unroll(step, kCopies);
    stream_result();
    return true;
  }

  // A warp for a row, a group of lanes for an entry, whose contiguous sum they share.
  bool entries_and_sum_on_lanes() { return sum_on_lanes(Spread::Row); }
  // A group of lanes for a row or chunk, one entry after the other.
  bool rows_and_sum_on_lanes() { return sum_on_lanes(Spread::Rows); }
  // A group of lanes for so many entries, whatever rows they are of.
  bool spread_entries_and_sum_on_lanes() { return sum_on_lanes(Spread::Entries); }

  // What the groups of lanes of a warp share: the entries of a row, rows, or all entries.
  enum class Spread : uint8_t { Row, Rows, Entries };

  bool sum_on_lanes(Spread spread) {
    const std::string entry = order_[1], sum = order_[2];
    const auto extent = nest_.known_extent(sum);
    if (is_summed(entry) || !extent || *extent < 1) return false;
    const int64_t width = std::gcd(*extent, vector_), vectors = *extent / width;
    // Of entries that are spread evenly each lane has four vectors, if there are so many.
    const int64_t shared = spread == Spread::Entries
                               ? std::clamp<int64_t>(vectors / 4, kFewLanes, kLanes)
                               : kLanesOfSum;
    const auto lanes = static_cast<int64_t>(
        std::bit_ceil(static_cast<uint64_t>(std::min<int64_t>(shared, vectors))));
    const int64_t steps = (vectors + lanes - 1) / lanes;
    const std::string sum_step = sum + "_step", sum_lane = sum + "_lane", element = sum + "_in";
    Names order = spread == Spread::Row    ? split_entries_over_lanes(kLanes / lanes)
                  : spread == Spread::Rows ? split_rows_over_lanes(kLanes / lanes)
                                           : spread_entries_over_lanes(kLanes / lanes);
    const std::string walked = order.back();
    split(sum, lanes * width, sum_step, width > 1 ? sum + "_rest" : sum_lane);
    if (width > 1) split(sum + "_rest", width, sum_lane, element);
    order.push_back(sum_lane);
    if (width > 1) order.push_back(element);
    order.push_back(sum_step);
    reorder(order);
    add(concat("precompute(", name("_acc"), ", ())"));
    add(concat("rfactor(", sum_lane, ", ", name("_part"), ")"));
    if (width > 1) {
      add(concat("rfactor(", element, ", ", name("_sums"), ")"));
      reorder({sum_step, element});
    }
    bind(rows_ + "_block", "block");
    bind(rows_ + "_warp", "warp");
    bind(spread == Spread::Row ? entry + "_lane" : rows_ + "_lane", "lane");
    bind(sum_lane, "lane");
    if (width > 1) add(concat("vectorize(", element, ", ", width, ")"));
    if (steps > 1) unroll(sum_step, steps <= kCopies ? 0 : kCopies);
    if (spread == Spread::Entries) {
      const int64_t copies = are_few(kLanes / lanes) ? kCopies / 2 : kCopies / 2 / steps;
      if (copies > 1) unroll(walked, copies);
    } else if (steps < kCopies) {
      unroll(walked, std::max<int64_t>(2, kCopies / steps));
    }
    return true;
  }

  // So many rows or chunks for a warp; the loops down to that over entries.
  Names split_rows_over_lanes(int64_t groups) {
    cut_rows(are_many() ? kShortChunk : kShortChunk / 4);
    Names order = split_chunks_over_lanes(groups);
    order.push_back(order_[1]);
    return order;
  }

  // Whether short chunks of entries, one for each group of lanes, leave room for more warps.
  bool are_few(int64_t groups) const {
    const double warps = kWarpsToFill * std::max(1, machine_.multiprocessors);
    return count_ < warps * kFewEntries * static_cast<double>(groups);
  }

  // So many chunks of equally many entries for a warp.
  Names spread_entries_over_lanes(int64_t groups) {
    const double length = are_few(groups) ? kFewEntries : 2 * kFewEntries;
    rows_ = row_ + "_chunk";
    within_ = {order_[1] + "_entry"};
    add(concat("split_entries(", row_, ", ", order_[1], ", ", length, ", ", rows_, ", ", within_[0],
               ")"));
    return split_chunks_over_lanes(groups);
  }

  Names split_chunks_over_lanes(int64_t groups) {
    split(rows_, kWarps * groups, rows_ + "_block", rows_ + "_in");
    split(rows_ + "_in", groups, rows_ + "_warp", rows_ + "_lane");
    Names order = {rows_ + "_block", rows_ + "_warp", rows_ + "_lane"};
    order.insert(order.end(), within_.begin(), within_.end());
    return order;
  }

  // So many entries of a row for a warp; the loops down to that over steps of it.
  Names split_entries_over_lanes(int64_t groups) {
    const std::string entry = order_[1], step = entry + "_step", lane = entry + "_lane";
    cut_rows(2 * kShortChunk);
    add(concat("split_positions(", entry, ", ", groups, ", ", step, ", ", lane, ")"));
    split(rows_, kWarps, rows_ + "_block", rows_ + "_warp");
    Names order = {rows_ + "_block", rows_ + "_warp"};
    order.insert(order.end(), within_.begin(), within_.end());
    order.insert(order.end(), {lane, step});
    return order;
  }

  // Rows in groups of lanes, as many as their entries can keep busy.
  bool entries_on_lanes() {
    const std::string entry = order_[1], step = entry + "_step", lane = entry + "_lane";
    const auto wanted = std::clamp<uint64_t>(static_cast<uint64_t>(entries_ / 2), 1, kLanes);
    const auto lanes = static_cast<int64_t>(std::bit_ceil(wanted));
    const bool sums = is_summed(entry), groups = lanes < kLanes;
    cut_rows(kShortChunk);
    const std::string row = rows_ + "_in", row_lane = rows_ + "_lane";
    const std::string warp = rows_ + "_warp";
    split(rows_, kWarps * kLanes / lanes, rows_ + "_block", groups ? row : warp);
    if (groups) split(row, kLanes / lanes, warp, row_lane);
    add(concat("split_positions(", entry, ", ", lanes, ", ", step, ", ", lane, ")"));
    Names order = {rows_ + "_block", warp};
    if (groups) order.push_back(row_lane);
    order.insert(order.end(), within_.begin(), within_.end());
    order.insert(order.end(), {lane, step});
    reorder(order);
    if (sums) add(concat("precompute(", name("_acc"), ", ())"));
    if (sums) add(concat("rfactor(", lane, ", ", name("_part"), ")"));
    bind(rows_ + "_block", "block");
    bind(warp, "warp");
    if (groups) bind(row_lane, "lane");
    bind(lane, "lane");
    unroll(step, kCopies / 2);
    return true;
  }

  const OrderProblem& problem_;
  const OrderChoice& choice_;
  const nest::Nest nest_;  // with a result in which sums may be added up
  const Machine& machine_;
  Names order_;
  std::string text_, row_;
  std::string rows_;  // the loop over rows or over chunks of them
  Names within_;      // the loop over the rows of a chunk, if there is one
  bool cuts_ = false;
  bool turns_ = false;  // loops that run once were brought in
  DType type_ = DType::Float32;
  int64_t element_bytes_ = 4;   // of what is read and written along the innermost loop
  int64_t vector_ = 1;          // elements that one access of a thread takes
  bool walks_entries_ = false;  // the second loop, row by row
  double entries_ = 0;          // of a row
  double count_ = 0;            // of all entries
};

}  // namespace

std::string choose_gpu_schedule(const OrderProblem& problem, const OrderChoice& choice,
                                const nest::Nest& nest, const Machine& machine) {
  const std::string rows = gather_rows_on_warps(problem, choice, nest, machine);
  if (!rows.empty()) return rows;
  return GpuScheduler(problem, choice, nest, machine).run();
}

}  // namespace tulle::plan
