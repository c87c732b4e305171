// Finds the loops of a nest that can be distributed over blocks, warps, lanes and threads.
#include "plan/gpu/loops.h"

#include <algorithm>
#include <bit>

#include "nest/merged_rows.h"
#include "plan/rewrite/gathering.h"
#include "plan/rewrite/wide_sums.h"
#include "support/half.h"

namespace tulle::plan {

using expr::Access;

GpuLoops::GpuLoops(const OrderProblem& problem, const OrderChoice& choice, const nest::Nest& nest,
                   const Machine& machine)
    : problem(problem),
      choice(choice),
      nest(with_wide_result(nest, problem.statement->tensor)),
      machine(machine),
      order(choice.order) {
  // Skips loops with a single iteration.
  const auto first = std::find_if(order.begin(), order.end(), [&](const std::string& var) {
    return nest.known_extent(var) != 1 || is_summed(var);
  });
  const bool turns = first != order.begin() && first != order.end();
  if (turns) std::rotate(order.begin(), first, order.end());
  contiguous = choice.vectorized || turns;
  type = problem.tensors->at(problem.statement->tensor).type;
  element_bytes = reads_halves() ? size_of(DType::Float16) : size_of(type);
  if (type != DType::Bool) vector = std::max<int64_t>(1, machine.vector_bytes / element_bytes);
  scatters = can_be_scattered();
  if (!scatters && !can_be_spread()) return;
  row = order[0];
  rows = problem.extents.at(row);
  if (order.size() < 2) return;
  walks_diagonals = nest.variable(order[1]).origin == nest::Variable::Origin::Difference;
  find_entries();
}

bool GpuLoops::are_few_and_short(int64_t turn) const {
  return longest_known > 0 && longest_known <= kFewTurns * turn &&
         rows <= kWarpsAtOnce * machine.multiprocessors;
}

bool GpuLoops::overflow_cache(int64_t columns) const {
  constexpr double reused = 16;  // gathers per row above which a row should stay in the cache
  constexpr double share = 0.7;  // of the cache, for gathered rows
  const double gathered = problem.extents.at(order[1]);
  const double bytes = gathered * static_cast<double>(columns * element_bytes);
  return walks_entries && entries * rows >= reused * gathered &&
         bytes > share * static_cast<double>(machine.last_cache);
}

bool GpuLoops::is_empty() const {
  return std::any_of(order.begin(), order.end(),
                     [&](const std::string& var) { return nest.known_extent(var) == 0; });
}

bool GpuLoops::can_be_spread() const {
  const bool plain = choice.route == Route::Dense || choice.route == Route::Shared;
  return order.size() >= 2 && plain && !is_summed(order[0]) && !is_empty();
}

bool GpuLoops::needs_one_order() const {
  return machine.deterministic && !is_exact_in_any_order(*problem.statement, type);
}

bool GpuLoops::can_be_scattered() const {
  return !order.empty() && choice.route == Route::Dense && is_summed(order[0]) &&
         !needs_one_order() && !is_empty();
}

// Whether a dense operand of a half type is contiguous along the innermost loop.
bool GpuLoops::reads_halves() const {
  const std::vector<const Access*> reads = expr::accesses(problem.statement->value);
  return std::any_of(reads.begin(), reads.end(), [&](const Access* access) {
    const expr::TensorType& type = problem.tensors->at(access->tensor);
    return is_half(type.type) && type.format.is_dense() && !access->indices.empty() &&
           access->indices.back() == order.back();
  });
}

// Sets whether the second loop walks over the entries that one operand stores in a row, and their
// number.
void GpuLoops::find_entries() {
  const expr::TensorType* numbered = nullptr;
  for (const Access* access : expr::accesses(problem.statement->value)) {
    const expr::TensorType& type = problem.tensors->at(access->tensor);
    const auto& levels = type.format.levels();
    if (levels.empty()) continue;
    if (level_variable(levels[0].expr, access->indices, problem.space) != row) continue;
    lists_entries |= nest::lists_entries(type.format);
    if (!is_full(levels[0].kind)) numbered = &type;
    if (levels.size() < 2 || is_full(levels[1].kind)) continue;
    if (level_variable(levels[1].expr, access->indices, problem.space) != order[1]) continue;
    walks_entries = true;
    longest = levels[1].width;
    const auto known_row = problem.longest_rows.find(access->tensor);
    const bool is_last = std::none_of(levels.begin() + 2, levels.end(), [](const Level& level) {
      return stores_positions(level.kind);
    });
    if (known_row != problem.longest_rows.end() && is_last) longest_known = known_row->second;
    const auto known = problem.counts.find(access->tensor);
    if (known == problem.counts.end()) continue;
    count = known->second;
    entries = count / std::max(1.0, rows);
  }
  if (numbered && !lists_entries) number_rows(*numbered);
}

// Numbers the stored rows. Each has at least one entry, or as many as the format pads a row to.
void GpuLoops::number_rows(const expr::TensorType& operand) {
  opening = schedule::NumberRows{row, row + ".stored"};
  row += ".stored";
  order[0] = row;
  int64_t least = 1;
  for (const Level& level : operand.format.levels())
    least = std::max({least, level.width, level.multiple});
  entries = std::max(entries, static_cast<double>(least));
  if (count > 0) rows = std::min(rows, count / entries);
}

SpreadLoop cut_rows(const GpuLoops& loops, int64_t length, ScheduleBuilder& builder) {
  const double wanted = std::clamp(2 * loops.entries, static_cast<double>(length), kLongestChunk);
  SpreadLoop chunks{loops.row + ".chunk", {loops.row + ".row"}};
  const auto chunk = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(wanted)));
  builder.add(schedule::SplitRows{loops.row, chunk, chunks.var, chunks.within[0]});
  return chunks;
}

SpreadLoop deal_rows(const GpuLoops& loops, int64_t piece, int64_t warps, int64_t turns,
                     ScheduleBuilder& builder) {
  SpreadLoop rows{loops.row + ".chunk", {loops.row + ".row"}};
  const int64_t parts = kMostWarps / warps * std::max(1, loops.machine.multiprocessors);
  builder.add(schedule::DealRows{loops.row, piece, rows.var, rows.within[0], parts, turns});
  return rows;
}

ScheduleBuilder first_legal(const GpuLoops& loops,
                            const std::function<ScheduleBuilder(bool cuts)>& rule) {
  const bool needs_one_order = loops.choice.route == Route::Dense && loops.needs_one_order();
  for (const bool cuts : {true, false}) {
    if (cuts && (!loops.walks_entries || !loops.are_many() || needs_one_order)) continue;
    ScheduleBuilder builder = rule(cuts);
    if (builder.empty()) return {};
    if (is_legal(builder.schedule(), loops.nest)) return builder;
  }
  return {};
}

}  // namespace tulle::plan
