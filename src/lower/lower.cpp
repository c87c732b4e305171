// The steps around the kernels of a nest: chunks, allocation, counting and scanning.
#include "lower/lower.h"

#include <algorithm>
#include <memory>
#include <tuple>
#include <utility>

#include "lower/kernel_lowering.h"
#include "lower/kernel_parameters.h"
#include "lower/storage.h"
#include "nest/merged_rows.h"
#include "support/check.h"
#include "support/mutant.h"

namespace tulle::lower {

using loop::Binary;
using loop::BinaryOp;
using loop::Expr;
using loop::IntConst;

namespace {

constexpr int64_t kChunksPerWorker = 8;  // of a sparse result, whose rows differ in cost
constexpr int64_t kChunksPerRow = 4;     // on a GPU: two rows seldom begin in one

struct ResultInfo {
  std::string name;
  const nest::Tensor* tensor = nullptr;
  std::vector<std::string> indices;
};

ResultInfo find_result(const nest::Nest& nest) {
  for (const nest::Assign* assign : nest::assigns(nest.root)) {
    const nest::Tensor& tensor = nest.tensor(assign->tensor);
    if (tensor.role == nest::Tensor::Role::Result)
      return {assign->tensor, &tensor, assign->indices};
  }
  internal_error("a nest without a result");
}

// The product of the constant extents of vector loops: how much one entry costs.
int64_t work_per_entry(const nest::Stmt& stmt, const nest::Nest& nest) {
  if (const auto* forall = stmt.as<nest::Forall>()) {
    const bool vector = forall->tag.kind == nest::LoopTag::Kind::Vector;
    return work_per_entry(forall->body, nest) *
           (vector ? nest.known_extent(forall->var).value_or(16) : 1);
  }
  if (const auto* where = stmt.as<nest::Where>()) return work_per_entry(where->producer, nest);
  return 1;
}

// As many chunks as have work enough each: the coordinates and entries that the kernel visits, and,
// where it skips coordinates, the elements of the result that are started in as many chunks (null:
// none are).
Expr chunk_count(const nest::Nest& nest, const KernelLowering& kernel, int64_t per_worker,
                 Backend backend, const Expr& started = {}) {
  const auto* root = nest.root.as<nest::Forall>();
  if (!kernel.can_be_cut() || !root || root->tag.kind != nest::LoopTag::Kind::Parallel)
    return IntConst::make(1);
  Expr work = started ? started : Expr(IntConst::make(0));
  if (kernel.visits_extent()) work = Coordinates(nest).extent(root->var);
  for (const auto& [name, tensor] : nest.tensors) {
    if (tensor.role == nest::Tensor::Role::Operand && !tensor.type.format.is_dense()) {
      work = work + loop::Var::make(count_name(name));
    }
  }
  work = work * work_per_entry(nest.root, nest);
  const bool on_gpu = backend == Backend::Gpu;
  const int64_t least = on_gpu ? std::min(kWorkPerThread, work_per_chunk()) : work_per_chunk();
  const Expr useful = Binary::make(BinaryOp::Div, work, IntConst::make(least));
  const Expr most = loop::Var::make(kThreads) * (on_gpu ? 1 : per_worker);
  return loop::maximum(IntConst::make(1), loop::minimum(most, useful));
}

Expr dense_size(const nest::Nest& nest, const ResultInfo& result) {
  const Coordinates coordinates(nest);
  Expr size = IntConst::make(1);
  for (const Level& level : result.tensor->type.format.levels()) {
    size = size * coordinates.level_extent(level.expr, result.indices);
  }
  return size;
}

// A kernel that zeroes the rows of a dense result that several chunks will add to.
loop::Kernel zero_shared_rows(const nest::Nest& nest, const ResultInfo& result,
                              const SharedRows& shared, const Expr& start, Backend backend) {
  const Coordinates coordinates(nest);
  const auto& levels = result.tensor->type.format.levels();
  const Expr rows = coordinates.level_extent(levels[0].expr, result.indices);
  Expr width = IntConst::make(1);
  for (size_t l = 1; l < levels.size(); ++l)
    width = width * coordinates.level_extent(levels[l].expr, result.indices);
  const loop::Buffer values = buffers_of(result.name, result.tensor->type).values;
  Names names;
  names.fresh(values->name);
  const std::string row_name = names.fresh("row"), at_name = names.fresh("at");
  const Expr row = loop::Var::make(row_name), at = loop::Var::make(at_name);
  const loop::Stmt zero =
      loop::Store::make(values, at, start ? start : loop::constant({values->element, 1}, 0));
  const std::string name = "zero_" + result.name;
  if (!shared.list) {
    auto position = [&](const Expr& of) {
      return loop::Cast::make(DType::Int64, loop::Load::make(shared.positions, of));
    };
    const Expr is_shared = shared.length < position(row + 1) - position(row);
    const loop::Stmt all = loop::For::make(at_name, row * width, (row + 1) * width, zero);
    return kernel_for_each(name, row_name, rows, loop::If::make(is_shared, all), backend, names);
  }
  // Neighbouring threads have neighbouring elements, a vector of them each where rows consist of
  // whole ones.
  constexpr int64_t lanes = 4;
  const auto* known = width.as<IntConst>();
  const int64_t each = known && known->value % lanes == 0 ? lanes : 1;
  const std::string piece_name = names.fresh("piece");
  const Expr piece = loop::Var::make(piece_name);
  const Expr pieces = Binary::make(BinaryOp::Div, width, IntConst::make(each));
  const Expr listed = Binary::make(BinaryOp::Div, piece, pieces);
  const Expr first = row * width + Binary::make(BinaryOp::Mod, piece, pieces) * each;
  const loop::Stmt body = loop::Block::make(
      {loop::Let::make(row_name,
                       loop::Cast::make(DType::Int64, loop::Load::make(shared.list, listed))),
       loop::For::make(at_name, first, first + each, zero,
                       each > 1 ? loop::LoopKind::Vector : loop::LoopKind::Serial,
                       each > 1 ? static_cast<int>(each) : 0)});
  const Expr count = loop::Load::make(shared.count, IntConst::make(0));
  return kernel_for_some(name, piece_name, count * pieces, shared.at_most * pieces, body, backend,
                         names);
}

// Fills a result with what its accumulation starts at.
void start_result(const std::string& name, const loop::Buffer& values, const Expr& size,
                  const Expr& start, Frame::Kind kind, loop::HostProgram& program) {
  const bool on_gpu = kind == Frame::Kind::Threads;
  const std::string kernel = "start_" + name;
  Names names;
  names.fresh(values->name);
  Frame frame(kind, kernel, on_gpu ? size : loop::Var::make(chunks_name(name)), names);
  auto share = [&](const Expr& at) {
    return Binary::make(BinaryOp::Div, size * at, loop::Var::make(chunks_name(name)));
  };
  // A thread of a GPU fills one element.
  loop::Stmt body = loop::Store::make(values, frame.chunk(), start);
  if (!on_gpu) {
    constexpr int lanes = 8;
    const std::string at = names.fresh("at");
    body = loop::For::make(at, share(frame.chunk()), share(frame.chunk() + 1),
                           loop::Store::make(values, loop::Var::make(at), start),
                           loop::LoopKind::Vector, lanes);
  }
  program.kernels.push_back(with_parameters(kernel, frame.wrap({}, {body})));
  frame.launch(program.steps);
}

void lower_known_structure(const nest::Nest& nest, const ResultInfo& result, Backend backend,
                           bool shares_result, loop::HostProgram& program) {
  KernelLowering lowering(nest, Phase::Compute, backend, shares_result);
  loop::Kernel kernel = lowering.lower("compute_" + result.name);
  const std::string& shared = result.tensor->shares_pattern_of;
  const Expr size =
      shared.empty() ? dense_size(nest, result) : Expr(loop::Var::make(count_name(shared)));
  // Padding of blocks is never visited, nor are slots that hold no entry.
  const Format& format = result.tensor->type.format;
  const bool zeroed = (lowering.needs_zeros() && !mutant("result-not-zeroed")) || shares_result ||
                      format.has_blocks() || format.has_gaps();
  const loop::Buffer values = buffers_of(result.name, result.tensor->type).values;
  const Expr start = lowering.start();
  const bool is_new = result.tensor->onto.empty();
  if (!lowering.is_bound()) {
    const Expr started = is_new && zeroed && start ? size : Expr();
    program.steps.push_back(
        loop::LetStep{chunks_name(result.name), chunk_count(nest, lowering, 1, backend, started)});
  }
  if (is_new) program.steps.push_back(loop::AllocateStep{values, size, zeroed && !start});
  if (is_new && zeroed && start) {
    const bool on_gpu = lowering.is_bound() || backend == Backend::Gpu;
    start_result(result.name, values, size, start,
                 on_gpu ? Frame::Kind::Threads : Frame::Kind::Workers, program);
  }
  for (const Derived& derived : lowering.derived()) add_derived(derived, program);
  if (is_new && lowering.shared_rows().positions && !zeroed) {
    program.kernels.push_back(zero_shared_rows(nest, result, lowering.shared_rows(), start,
                                               lowering.is_bound() ? Backend::Gpu : backend));
    program.steps.push_back(loop::LaunchStep{program.kernels.back().name});
  }
  for (const auto& [pieces, count] : lowering.tuple_pieces().arrays())
    program.steps.push_back(loop::AllocateStep{pieces, count, false});
  lowering.launch(program.steps);
  program.kernels.push_back(std::move(kernel));
  if (!lowering.tuple_pieces().any()) return;
  KernelLowering merging(nest, Phase::Merge, backend);
  program.kernels.push_back(merging.lower("merge_" + result.name));
  merging.launch(program.steps);
  for (const auto& [pieces, count] : lowering.tuple_pieces().arrays())
    program.steps.push_back(loop::FreeStep{pieces});
}

// Counts the entries of each group and reads the totals, null for groups that are not counted.
std::vector<Expr> count_entries(const nest::Nest& nest, const ResultInfo& result,
                                const std::vector<ResultGroup>& groups, Backend backend,
                                loop::HostProgram& program) {
  KernelLowering counting(nest, Phase::Count, backend);
  loop::Kernel kernel = counting.lower("count_" + result.name);
  const std::vector<Level>& levels = result.tensor->type.format.levels();
  const Expr chunks = loop::Var::make(chunks_name(result.name));
  const int64_t most = result.tensor->type.index_type == DType::Int32 ? INT32_MAX : INT64_MAX;
  auto entries = [&](size_t g) {
    return loop::make_buffer(count_buffer_name(result.name, g), DType::Int64);
  };
  const loop::Buffer widest = loop::make_buffer(width_buffer_name(result.name), DType::Int64);
  const int64_t width = levels[static_cast<size_t>(groups.back().first)].width;
  auto& steps = program.steps;
  for (size_t g = 0; g < groups.size(); ++g) {
    if (groups[g].is_counted) steps.push_back(loop::AllocateStep{entries(g), chunks + 1, true});
  }
  if (width > 0) steps.push_back(loop::AllocateStep{widest, IntConst::make(1), true});
  counting.launch(steps);
  program.kernels.push_back(std::move(kernel));
  std::vector<Expr> totals(groups.size());
  for (size_t g = 0; g < groups.size(); ++g) {
    if (!groups[g].is_counted) continue;
    const std::string total = concat(result.name, "_total", g);
    steps.push_back(loop::ScanStep{entries(g), chunks});
    steps.push_back(loop::ReadStep{total, entries(g), chunks, most});
    totals[g] = loop::Var::make(total);
    // The one row of an outermost level ends where all chunks have counted on.
    const Level& level = levels[static_cast<size_t>(groups[g].first)];
    if (groups[g].first == 0 && level.multiple > 1)
      totals[g] = loop::ceil_divide(totals[g], level.multiple) * level.multiple;
  }
  if (width > 0) {
    steps.push_back(loop::ReadStep{result.name + "_width", widest, IntConst::make(0), width, true});
    steps.push_back(loop::FreeStep{widest});
  }
  return totals;
}

// Allocates the arrays of the levels and the values.
void allocate_levels(const nest::Nest& nest, const ResultInfo& result,
                     const std::vector<ResultGroup>& groups, const std::vector<Expr>& totals,
                     bool needs_zeros, loop::HostProgram& program) {
  const Format& format = result.tensor->type.format;
  const TensorBuffers buffers = buffers_of(result.name, result.tensor->type);
  const Coordinates coordinates(nest);
  auto& steps = program.steps;
  Expr slots = IntConst::make(1), stored;
  size_t group = 0;
  bool full_below = false;
  for (int l = 0; l < format.level_count(); ++l) {
    const Level& level = format.levels()[static_cast<size_t>(l)];
    const size_t at = static_cast<size_t>(l);
    if (buffers.pos[at]) steps.push_back(loop::AllocateStep{buffers.pos[at], slots + 1, false});
    const bool is_grouped = group < groups.size() && l >= groups[group].first;
    if (is_direct(level.kind)) {
      slots = slots * coordinates.level_extent(level.expr, result.indices);
    } else if (has_width(level.kind)) {
      slots = slots * level.width;
    } else {
      slots = totals[group];
    }
    if (l == 0) stored = slots;
    full_below = !is_grouped && group > 0;
    if (is_grouped && l == groups[group].last) ++group;
    if (buffers.crd[at]) {
      steps.push_back(loop::AllocateStep{buffers.crd[at], slots, stores_marks(level.kind)});
    }
  }
  const bool zeroed = full_below || needs_zeros || format.has_gaps();
  steps.push_back(loop::AllocateStep{buffers.values, slots, zeroed});
  steps.push_back(loop::LetStep{count_name(result.name), slots});
  if (counts_stored(format)) steps.push_back(loop::LetStep{stored_name(result.name), stored});
}

void lower_new_structure(const nest::Nest& nest, const ResultInfo& result, Backend backend,
                         loop::HostProgram& program) {
  const auto lowered = [&](bool shares_values) {
    auto lowering = std::make_unique<KernelLowering>(nest, Phase::Fill, backend);
    if (!shares_values) lowering->leave_values_together();
    loop::Kernel kernel = lowering->lower("fill_" + result.name);
    return std::pair(std::move(lowering), std::move(kernel));
  };
  auto [lowering, fill] = lowered(true);
  if (!mutant("members-disagree") && lowering->members_disagree())
    std::tie(lowering, fill) = lowered(false);
  const KernelLowering& filling = *lowering;
  const Format& format = result.tensor->type.format;
  const std::vector<ResultGroup> groups = result_groups(format);
  auto& steps = program.steps;

  Expr chunks = chunk_count(nest, filling, kChunksPerWorker, backend);
  // Each has memory of its own, and rows are not cut, unless for equal work.
  const auto* root = nest.root.as<nest::Forall>();
  if (root && backend == Backend::Gpu && !nest::loop_over_merged_rows(nest))
    chunks =
        loop::maximum(IntConst::make(1),
                      loop::minimum(chunks, Coordinates(nest).extent(root->var) * kChunksPerRow));
  steps.push_back(loop::LetStep{chunks_name(result.name), chunks});
  const bool asks = std::any_of(groups.begin(), groups.end(), [&](const ResultGroup& group) {
    return group.is_counted || format.levels()[static_cast<size_t>(group.first)].width > 0;
  });
  std::vector<Expr> totals(groups.size());
  if (asks) totals = count_entries(nest, result, groups, backend, program);
  allocate_levels(nest, result, groups, totals, filling.needs_zeros(), program);
  filling.launch(steps);
  for (size_t g = 0; g < groups.size(); ++g) {
    if (groups[g].is_counted)
      steps.push_back(
          loop::FreeStep{loop::make_buffer(count_buffer_name(result.name, g), DType::Int64)});
  }
  program.kernels.push_back(std::move(fill));
}

}  // namespace

std::string kernel_name(const nest::Nest& nest) { return "compute_" + find_result(nest).name; }

void lower_nest(const nest::Nest& nest, loop::HostProgram& program, Backend backend,
                bool shares_result) {
  const ResultInfo result = find_result(nest);
  const bool known =
      result.tensor->type.format.is_dense() || !result.tensor->shares_pattern_of.empty();
  if (known) {
    lower_known_structure(nest, result, backend, shares_result || nest::adds_up_by_atomics(nest),
                          program);
  } else {
    lower_new_structure(nest, result, backend, program);
  }
}

}  // namespace tulle::lower
