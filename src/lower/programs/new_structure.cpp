// Counts, scans, allocates and fills.
#include "lower/programs/new_structure.h"

#include <algorithm>
#include <utility>

#include "lower/coordinates.h"
#include "lower/kernel_parameters.h"
#include "lower/result/result_groups.h"
#include "lower/storage.h"
#include "nest/merged_rows.h"
#include "support/check.h"
#include "support/mutant.h"

namespace tulle::lower {

using loop::Expr;
using loop::IntConst;

namespace {

constexpr int64_t kChunksPerWorker = 8;  // because the cost of rows in a sparse result varies
constexpr int64_t kChunksPerRow = 4;     // on a GPU, so that rarely two rows begin in one chunk

// The steps that build a result, one group of its levels at a time.
class NewStructure {
 public:
  NewStructure(const nest::Nest& nest, const ResultInfo& result, const Options& options,
               loop::HostProgram& program)
      : nest_(nest), result_(result), options_(options), program_(program) {}

  void lower() {
    LoweredKernel filling = fill();
    program_.steps.push_back(loop::LetStep{chunks_name(result_.name), chunks_of(filling.facts)});
    if (is_counted()) count_entries();
    allocate_levels(filling.facts.needs_zeros);
    add_kernel(std::move(filling), program_);
    for (size_t g = 0; g < groups_.size(); ++g) {
      if (groups_[g].is_counted) program_.steps.push_back(loop::FreeStep{entries_of(g)});
    }
  }

 private:
  LoweredKernel fill() const {
    KernelRequest request{
        .name = "fill_" + result_.name, .phase = Phase::Fill, .options = options_};
    LoweredKernel filling = lower_kernel(nest_, request);
    if (mutant("members-disagree") || !filling.members_disagree) return filling;
    request.shares_values = false;
    return lower_kernel(nest_, request);
  }

  Expr chunks_of(const KernelFacts& facts) const {
    const Expr chunks = chunk_count(nest_, facts, options_, kChunksPerWorker);
    // Each chunk has its own memory. Only chunks of equal work cut rows.
    const auto* root = nest_.root.as<nest::Forall>();
    if (!root || !options_.on_gpu() || nest::loop_over_merged_rows(nest_)) return chunks;
    const Expr most = Coordinates(nest_).extent(root->var) * kChunksPerRow;
    return loop::maximum(IntConst::make(1), loop::minimum(chunks, most));
  }

  // Whether the format needs the number of entries, or the length of the longest row.
  bool is_counted() const {
    return std::any_of(groups_.begin(), groups_.end(), [&](const ResultGroup& group) {
      return group.is_counted || level(group.first).width > 0;
    });
  }

  // Counts the entries of each group and reads the totals.
  void count_entries() {
    auto& steps = program_.steps;
    LoweredKernel counting = lower_kernel(
        nest_, {.name = "count_" + result_.name, .phase = Phase::Count, .options = options_});
    const Expr chunks = loop::Var::make(chunks_name(result_.name));
    for (size_t g = 0; g < groups_.size(); ++g) {
      if (groups_[g].is_counted)
        steps.push_back(loop::AllocateStep{entries_of(g), chunks + 1, true});
    }
    const loop::Buffer widest = loop::make_buffer(width_buffer_name(result_.name), DType::Int64);
    const int64_t width = level(groups_.back().first).width;
    if (width > 0) steps.push_back(loop::AllocateStep{widest, IntConst::make(1), true});
    add_kernel(std::move(counting), program_);
    for (size_t g = 0; g < groups_.size(); ++g) {
      if (groups_[g].is_counted) totals_[g] = read_total(g, chunks);
    }
    if (width > 0) {
      steps.push_back(
          loop::ReadStep{result_.name + ".width", widest, IntConst::make(0), width, true});
      steps.push_back(loop::FreeStep{widest});
    }
  }

  Expr read_total(size_t group, const Expr& chunks) {
    const int64_t most = result_.tensor->type.index_type == DType::Int32 ? INT32_MAX : INT64_MAX;
    const std::string name = concat(result_.name, ".total", group);
    program_.steps.push_back(loop::ScanStep{entries_of(group), chunks});
    program_.steps.push_back(loop::ReadStep{name, entries_of(group), chunks, most});
    const Expr total = loop::Var::make(name);
    // An outermost level has one row, which ends after the entries of all chunks. Rounds it up to
    // the multiple.
    const int first = groups_[group].first;
    const int64_t multiple = level(first).multiple;
    return first == 0 && multiple > 1 ? loop::ceil_divide(total, multiple) * multiple : total;
  }

  // Allocates the arrays of the levels and the values.
  void allocate_levels(bool needs_zeros) {
    auto& steps = program_.steps;
    const Format& format = result_.format();
    const TensorBuffers buffers = buffers_of(result_.name, result_.tensor->type);
    Expr slots = IntConst::make(1), stored;
    size_t group = 0;
    bool full_below = false;
    for (int l = 0; l < format.level_count(); ++l) {
      const size_t at = static_cast<size_t>(l);
      if (buffers.pos[at]) steps.push_back(loop::AllocateStep{buffers.pos[at], slots + 1, false});
      slots = slots_of(l, slots, group);
      if (l == 0) stored = slots;
      const bool is_grouped = group < groups_.size() && l >= groups_[group].first;
      full_below = !is_grouped && group > 0;
      if (is_grouped && l == groups_[group].last) ++group;
      if (buffers.crd[at])
        steps.push_back(loop::AllocateStep{buffers.crd[at], slots, stores_marks(level(l).kind)});
    }
    const bool zeroed = full_below || needs_zeros || format.has_gaps();
    steps.push_back(loop::AllocateStep{buffers.values, slots, zeroed});
    steps.push_back(loop::LetStep{count_name(result_.name), slots});
    if (counts_stored(format)) steps.push_back(loop::LetStep{stored_name(result_.name), stored});
  }

  // The number of slots of a level: from the slots above it, or the counted total of its group.
  Expr slots_of(int l, const Expr& above, size_t group) const {
    const Level& at = level(l);
    if (is_direct(at.kind))
      return above * Coordinates(nest_).level_extent(at.expr, result_.indices);
    return has_width(at.kind) ? above * at.width : totals_[group];
  }

  const Level& level(int l) const { return result_.format().levels()[static_cast<size_t>(l)]; }
  // The array with the number of entries of a group in each chunk.
  loop::Buffer entries_of(size_t group) const {
    return loop::make_buffer(count_buffer_name(result_.name, group), DType::Int64);
  }

  const nest::Nest& nest_;
  const ResultInfo& result_;
  const Options& options_;
  loop::HostProgram& program_;
  const std::vector<ResultGroup> groups_ = result_groups(result_.format());
  std::vector<Expr> totals_ = std::vector<Expr>(groups_.size());  // null: not counted
};

}  // namespace

void lower_new_structure(const nest::Nest& nest, const ResultInfo& result, const Options& options,
                         loop::HostProgram& program) {
  NewStructure(nest, result, options, program).lower();
}

}  // namespace tulle::lower
