// Chooses accumulators in registers, vectors, chunks and prefetching.
#include "plan/cpu/choose_chunks.h"

#include <algorithm>
#include <functional>
#include <set>

#include "plan/rewrite/gathering.h"
#include "schedule/queries.h"
#include "support/check.h"
#include "support/half.h"

namespace tulle::plan {

using expr::Access;

namespace {

constexpr int64_t kLongestPanel = 4096;   // in elements, if the loop is parallel and vectorised
constexpr int64_t kRegisterBytes = 1024;  // for accumulators: 16 vectors of 64 bytes
constexpr int64_t kAheadBytes = 8192;     // prefetch distance, in bytes of gathered rows
constexpr double kFewLines = 128;         // two cache lines, in bytes
constexpr double kEntriesOfAThread = 16;  // in a chunk on a GPU: kWorkPerThread in lower/
// The share of the last-level cache above which a result is stored past the caches. With scattered
// gathers, a result of a quarter of the cache evicts gathered rows. With near gathers, the rows are
// in the caches below, so the result may be larger.
constexpr double kScatteredResult = 0.25, kNearResult = 1.5;

class ChunkScheduler {
 public:
  ChunkScheduler(const OrderProblem& problem, const OrderChoice& choice, const nest::Nest& nest,
                 const Machine& machine, const Knobs& knobs)
      : problem_(problem),
        choice_(choice),
        nest_(nest),
        machine_(machine),
        knobs_(knobs),
        order_(choice.order) {}

  ChosenSchedule run() {
    if (order_.empty()) return {};
    type_ = problem_.tensors->at(problem_.statement->tensor).type;
    const int bytes = knobs_.vector_bytes.value_or(machine_.vector_bytes);
    lanes_ = static_cast<int>(bytes / std::max<int64_t>(4, size_of(type_)));
    vectorizes_ = choice_.vectorized && is_innermost(order_.back());
    gather_sums();
    const bool on_gpu = is_gpu(machine_.backend);
    if (vectorizes_ && type_ != DType::Bool && !on_gpu) {
      if (order_.size() == 1 && problem_.outer.size() == 1 && problem_.reduced.empty())
        cut_into_panels(order_[0], kLongestPanel, order_.begin());
      if (lanes_ > 1) add(schedule::Vectorize{order_.back(), lanes_for(order_.back())});
    }
    if (gathers_tuple_ && type_ != DType::Bool && !on_gpu && lanes_ > 1) vectorize_others();
    if (!on_gpu) look_ahead();
    const std::optional<GpuRule> chunks = run_parallel();
    if (!on_gpu) return {schedule_, {}};
    GpuRules rules = {chunks.value_or(GpuRule::OneThread)};
    if (share_blocks()) rules.insert(GpuRule::SharedBlocks);
    return {schedule_, rules};
  }

 private:
  void add(schedule::Rewrite step) { schedule_.add(std::move(step)); }

  // Limits the lanes to the extent of a block.
  int lanes_for(const std::string& var) const {
    const auto found = nest_.variables.find(var);
    if (found == nest_.variables.end() || found->second.origin != nest::Variable::Origin::Inner)
      return lanes_;
    int lanes = lanes_;
    while (lanes > 2 && lanes / 2 >= found->second.factor) lanes /= 2;
    return lanes;
  }

  // Puts the accumulation of the outermost sum into registers, or into a tracked row, if possible.
  void gather_sums() {
    const auto first = std::find_if(order_.begin(), order_.end(), [&](const std::string& v) {
      return problem_.reduced.contains(v);
    });
    if (first == order_.end() || result_follows_difference()) return;
    const std::vector<const nest::Assign*> assigned = nest::assigns(nest_.root);
    if (std::none_of(assigned.begin(), assigned.end(), [&](const nest::Assign* assign) {
          return assign->tensor == problem_.statement->tensor && assign->accumulate;
        })) {
      // the nest already has workspaces
      gathered_at_ = static_cast<size_t>(first - order_.begin());
      gathers_tuple_ = true;
      in_registers_ = fits_in_registers();
      if (in_registers_) unroll_entries(order_[order_.size() - 2], 2);
      return;
    }
    const std::string name = problem_.statement->tensor + ".acc";
    std::vector<std::string> inside;
    for (auto var = first; var != order_.end(); ++var) {
      if (!problem_.reduced.contains(*var) && in_outer(*var)) inside.push_back(*var);
    }
    if (choice_.route == Route::Tracked) {
      using Tracking = schedule::Precompute::Tracking;
      add(schedule::Precompute{name, inside,
                               choice_.scans ? Tracking::Scanned : Tracking::Tracked});
      gathered_at_ = static_cast<size_t>(first - order_.begin());
      return;
    }
    if (choice_.route != Route::Dense && choice_.route != Route::Shared) return;
    if (inside.size() > 1) return;
    if (inside.size() == 1) {
      const auto extent = nest_.known_extent(inside[0]);
      if (!extent || !vectorizes_ || inside[0] != order_.back()) return;
      const int64_t fits = knobs_.panel.value_or(kRegisterBytes / size_of(compute_type(type_)));
      if (fits == 0) return;
      if (*extent > fits) {
        cut_into_panels(inside[0], fits, first);
        inside[0] = order_.back();
      }
    }
    add(schedule::Precompute{name, inside});
    in_registers_ = true;
    for (size_t at = 0; at < order_.size() && gathered_at_ == order_.size() + 1; ++at) {
      if (problem_.reduced.contains(order_[at])) gathered_at_ = at;
    }
    const size_t from_end = inside.size() == 1 ? 2 : 1;
    unroll_entries(order_[order_.size() - std::min(order_.size(), from_end)],
                   inside.size() == 1 ? 2 : 1);
  }

  // Two entries at a time hide the latency of loading the next row.
  void unroll_entries(const std::string& walked, int planned) {
    const int at_a_time = knobs_.unroll.value_or(planned);
    if (at_a_time > 1 && problem_.reduced.contains(walked))
      add(schedule::Unroll{walked, at_a_time});
  }

  // Whether the nest gathers one sum in a workspace whose columns fit in registers.
  bool fits_in_registers() const {
    if (topmost_reductions(problem_.statement->value).size() != 1 || !vectorizes_ ||
        order_.size() < 2 || !in_outer(order_.back()) || problem_.reduced.contains(order_.back()))
      return false;
    const auto extent = nest_.known_extent(order_.back());
    return extent && *extent <= kRegisterBytes / size_of(compute_type(type_));
  }

  // Whether an index of the result has no loop of its own, because it is computed from a summed
  // difference.
  bool result_follows_difference() const {
    const std::vector<std::string>& indices = problem_.statement->indices;
    return std::any_of(indices.begin(), indices.end(), [&](const std::string& index) {
      return !problem_.space.subtracted(index).empty() &&
             problem_.reduced.contains(problem_.space.parts.at(index)[0]);
    });
  }

  // Whether every loop over the variable is innermost. Independent reductions may order their loops
  // differently.
  bool is_innermost(const std::string& var) const {
    bool holds = true;
    schedule::for_each_loop(nest_.root, [&](const nest::Forall& loop) {
      if (loop.var != var) return;
      schedule::for_each_loop(loop.body, [&](const nest::Forall&) { holds = false; });
    });
    return holds;
  }

  // Vectorises the other innermost loops of a tuple, such as loops over the elements of a
  // workspace.
  void vectorize_others() {
    for (const std::string& var : order_) {
      if (var == order_.back() && vectorizes_) continue;
      const bool is_whole = nest_.variable(var).origin == nest::Variable::Origin::Source;
      if (problem_.reduced.contains(var) || !is_whole) continue;
      if (runs_over_neighbours(nest_.root, var)) add(schedule::Vectorize{var, lanes_});
    }
  }

  // Whether all loops over the variable, at least one, contain only an assignment with contiguous
  // accesses.
  bool runs_over_neighbours(const nest::Stmt& stmt, const std::string& var) const {
    bool found = false, fits = true;
    const std::function<void(const nest::Stmt&)> visit = [&](const nest::Stmt& part) {
      if (const auto* forall = part.as<nest::Forall>()) {
        if (forall->var == var) {
          found = true;
          fits = fits && forall->body.as<nest::Assign>() &&
                 lies_along(*forall->body.as<nest::Assign>(), var);
        }
        visit(forall->body);
      } else if (const auto* where = part.as<nest::Where>()) {
        visit(where->consumer);
        visit(where->producer);
      } else if (const auto* sequence = part.as<nest::Sequence>()) {
        for (const nest::Stmt& one : sequence->stmts) visit(one);
      }
    };
    visit(stmt);
    return found && fits;
  }

  bool lies_along(const nest::Assign& assign, const std::string& var) const {
    auto fits = [&](const std::string& tensor, const std::vector<std::string>& indices) {
      const auto used = std::count(indices.begin(), indices.end(), var);
      if (used == 0) return true;
      const Format& format = nest_.tensor(tensor).type.format;
      const bool last = format.is_dense() && format.levels().back().expr.dimension + 1 ==
                                                 static_cast<int>(indices.size());
      return used == 1 && last && indices.back() == var;
    };
    const std::vector<const Access*> reads = expr::accesses(assign.value);
    return fits(assign.tensor, assign.indices) &&
           std::all_of(reads.begin(), reads.end(),
                       [&](const Access* access) { return fits(access->tensor, access->indices); });
  }

  // The innermost loop k becomes panels k0 outside the sum and k1 inside.
  void cut_into_panels(const std::string& var, int64_t width,
                       std::vector<std::string>::iterator sum) {
    const std::string outer = var + ".panel", inner = var + ".in";
    add(schedule::Split{var, width, outer, inner});
    const auto at = knobs_.panels_outermost ? 0 : sum - order_.begin();
    order_.back() = inner;
    order_.insert(order_.begin() + at, outer);
    add(schedule::Reorder{order_});
  }

  bool in_outer(const std::string& var) const {
    return std::find(problem_.outer.begin(), problem_.outer.end(), var) != problem_.outer.end();
  }

  // Prefetches the rows that entries gather from an operand that is several times larger than the
  // second cache. Stores results past the caches if they would evict gathered rows from the last
  // one.
  void look_ahead() {
    const expr::Statement& statement = *problem_.statement;
    if (!vectorizes_) return;
    Locality nearest = Locality::Scattered;
    std::set<std::string> fetched;  // an operand may be read several times
    for (const Access* access : expr::accesses(statement.value)) {
      const expr::TensorType& type = problem_.tensors->at(access->tensor);
      if (!type.format.is_dense() || access->indices.size() < 2) continue;
      const std::string& row =
          access->indices[static_cast<size_t>(type.format.levels()[0].expr.dimension)];
      if (!is_gathered(row) || !problem_.extents.contains(row)) continue;
      nearest = std::min(nearest, locality_along(row));
      double bytes = static_cast<double>(size_of(type.type)), row_bytes = bytes;
      for (const std::string& index : access->indices) bytes *= problem_.extents.at(index);
      row_bytes = bytes / std::max(1.0, problem_.extents.at(row));
      if (!problem_.reduced.contains(row) && row_bytes > kAheadBytes) continue;
      if (!knobs_.prefetch && !misses_caches(row, bytes, row_bytes)) continue;
      const int64_t rows = kAheadBytes / std::max<int64_t>(1, static_cast<int64_t>(row_bytes));
      const int64_t distance =
          knobs_.prefetch.value_or(std::clamp<int64_t>(rows, 8, schedule::kMostAhead));
      if (distance == 0 || !fetched.insert(access->tensor).second) continue;
      add(schedule::Prefetch{access->tensor, distance});
    }
    if (!in_registers_ || choice_.route != Route::Dense || !statement.adds_to.empty()) return;
    double bytes = static_cast<double>(size_of(type_));
    for (const std::string& index : statement.indices) {
      const auto& parts = problem_.space.parts.at(index);
      for (const std::string& part : parts) bytes *= problem_.extents.at(part);
    }
    const double share = nearest == Locality::Near ? kNearResult : kScatteredResult;
    if (knobs_.nontemporal.value_or(bytes > share * static_cast<double>(machine_.last_cache)))
      add(schedule::NonTemporal{statement.tensor});
  }

  // Whether entries below the outermost loop choose the coordinates of this index.
  bool is_gathered(const std::string& row) const {
    if (in_registers_ && problem_.reduced.contains(row)) return true;
    if (row == order_[0]) return false;
    const std::vector<const Access*> reads = expr::accesses(problem_.statement->value);
    return std::any_of(reads.begin(), reads.end(), [&](const Access* access) {
      const auto& levels = problem_.tensors->at(access->tensor).format.levels();
      return std::any_of(levels.begin(), levels.end(), [&](const Level& level) {
        return !is_full(level.kind) && level.expr.is_whole() &&
               access->indices[static_cast<size_t>(level.expr.dimension)] == row;
      });
    });
  }

  // Whether gathers along this index wait for memory. With mixed locality, each thread only needs
  // its own part of the rows in the cache. The hardware prefetcher handles rows of several cache
  // lines.
  bool misses_caches(const std::string& index, double bytes, double row_bytes) const {
    const auto second = static_cast<double>(machine_.second_cache);
    switch (locality_along(index)) {
      case Locality::Near:
        return false;
      case Locality::Mixed:
        return row_bytes <= kFewLines && bytes > 2 * second * problem_.threads;
      case Locality::Scattered:
        return bytes > 4 * second;
    }
    return false;
  }

  // The locality of the operand that stores the coordinates of this index.
  Locality locality_along(const std::string& index) const {
    Locality nearest = Locality::Scattered;
    for (const Access* access : expr::accesses(problem_.statement->value)) {
      const auto share = problem_.distinct_shares.find(access->tensor);
      if (share == problem_.distinct_shares.end()) continue;
      for (const Level& level : problem_.tensors->at(access->tensor).format.levels()) {
        const bool stores = !is_full(level.kind) &&
                            access->indices[static_cast<size_t>(level.expr.dimension)] == index;
        if (stores) nearest = std::min(nearest, locality_of(share->second));
      }
    }
    return nearest;
  }

  // Parallelises the outermost loop. Returns the rule for its chunks, if there are any.
  std::optional<GpuRule> run_parallel() {
    const std::string& outermost = order_[0];
    if (problem_.outer.empty() || problem_.reduced.contains(outermost) || gathered_at_ == 0)
      return std::nullopt;
    if (knobs_.parallel == Knobs::Parallel::None) return std::nullopt;
    const bool has_entries =
        std::any_of(nest_.tensors.begin(), nest_.tensors.end(), [&](const auto& entry) {
          const nest::Tensor& tensor = entry.second;
          const auto& levels = tensor.type.format.levels();
          if (tensor.role != nest::Tensor::Role::Operand || levels.size() < 2) return false;
          if (!is_full(levels[0].kind) || !stores_positions(levels[1].kind)) return false;
          for (const Access* access : expr::accesses(problem_.statement->value)) {
            if (access->tensor == entry.first &&
                level_variable(levels[0].expr, access->indices, problem_.space) == outermost) {
              return true;
            }
          }
          return false;
        });
    if (is_gpu(machine_.backend) && !knobs_.parallel && cut_for_equal_work())
      return GpuRule::ChunksOfWork;
    const bool by_entries = has_entries && knobs_.parallel != Knobs::Parallel::Rows &&
                            (knobs_.parallel || !each_row_fills_a_thread());
    using Balance = schedule::Parallel::Balance;
    const Balance entries =
        knobs_.parallel == Knobs::Parallel::Merge ? Balance::Merge : Balance::Nnz;
    add(schedule::Parallel{outermost, by_entries ? entries : Balance::Rows});
    return by_entries ? GpuRule::ChunksOfEntries : GpuRule::ChunksOfRows;
  }

  // Whether each row, gathered in a workspace, becomes a chunk of its own: if rows have enough
  // entries and there are not too many rows. Then chunks of equal work would also be single rows.
  bool each_row_fills_a_thread() const {
    if (!is_gpu(machine_.backend) || choice_.route != Route::Tracked) return false;
    double entries = 0;
    for (const auto& [operand, count] : problem_.counts) {
      if (!problem_.tensors->at(operand).format.is_dense()) entries += count;
    }
    const double rows = problem_.extents.at(order_[0]);
    return rows <= problem_.threads && entries >= rows * kEntriesOfAThread;
  }

  // Cuts rows if each thread appends entries one by one. Otherwise one thread would process a whole
  // long row.
  bool cut_for_equal_work() {
    if (choice_.route == Route::Dense || choice_.route == Route::Tracked) return false;
    return add_if_legal({schedule::Parallel{order_[0], schedule::Parallel::Balance::Merge}});
  }

  // Binds loops over the insides of blocks to members of chunks.
  bool share_blocks() {
    std::vector<schedule::Rewrite> steps;
    for (const std::string& var : choice_.members)
      steps.emplace_back(schedule::Bind{var, schedule::Bind::Part::Member});
    return !steps.empty() && add_if_legal(steps);
  }

  bool add_if_legal(const std::vector<schedule::Rewrite>& steps) {
    schedule::Schedule longer = schedule_;
    for (const schedule::Rewrite& step : steps) longer.add(step);
    if (!is_legal(longer, nest_)) return false;
    schedule_ = std::move(longer);
    return true;
  }

  const OrderProblem& problem_;
  const OrderChoice& choice_;
  const nest::Nest& nest_;
  const Machine& machine_;
  const Knobs& knobs_;
  std::vector<std::string> order_;
  schedule::Schedule schedule_;
  DType type_ = DType::Float32;
  int lanes_ = 1;
  bool vectorizes_ = false;  // of the innermost loop of the order
  bool in_registers_ = false;
  bool gathers_tuple_ = false;                     // in workspaces of the original nest
  size_t gathered_at_ = choice_.order.size() + 1;  // the depth from which the sum is gathered
};

}  // namespace

ChosenSchedule choose_chunks(const OrderProblem& problem, const OrderChoice& choice,
                             const nest::Nest& nest, const Machine& machine, const Knobs& knobs) {
  return ChunkScheduler(problem, choice, nest, machine, knobs).run();
}

}  // namespace tulle::plan
