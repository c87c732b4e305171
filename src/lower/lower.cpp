// The steps around the kernels of a nest: chunks, allocation, counting and scanning.
#include "lower/lower.h"

#include "lower/kernel_lowering.h"
#include "lower/kernel_parameters.h"
#include "lower/storage.h"
#include "support/check.h"
#include "support/mutant.h"

namespace tulle::lower {

using loop::Binary;
using loop::BinaryOp;
using loop::Expr;
using loop::IntConst;

namespace {

constexpr int64_t kChunksPerWorker = 8;  // of a sparse result, whose rows differ in cost

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

Expr chunk_count(const nest::Nest& nest, int64_t per_worker) {
  const auto* root = nest.root.as<nest::Forall>();
  if (!root || root->tag.kind != nest::LoopTag::Kind::Parallel) return IntConst::make(1);
  Expr work = Coordinates(nest).extent(root->var);
  for (const auto& [name, tensor] : nest.tensors) {
    if (tensor.role == nest::Tensor::Role::Operand && !tensor.type.format.is_dense()) {
      work = work + loop::Var::make(count_name(name));
    }
  }
  work = work * work_per_entry(nest.root, nest);
  const Expr useful = Binary::make(BinaryOp::Div, work, IntConst::make(work_per_chunk()));
  const Expr most = loop::Var::make(kThreads) * per_worker;
  return loop::maximum(IntConst::make(1), loop::minimum(most, useful));
}

Expr dense_size(const nest::Nest& nest, const ResultInfo& result) {
  const Coordinates coordinates(nest);
  Expr size = IntConst::make(1);
  for (const Level& level : result.tensor->type.format.levels()) {
    size = size * coordinates.level_extent(
                      level.expr, result.indices[static_cast<size_t>(level.expr.dimension)]);
  }
  return size;
}

void lower_known_structure(const nest::Nest& nest, const ResultInfo& result,
                           loop::HostProgram& program) {
  KernelLowering lowering(nest, Phase::Compute);
  loop::Kernel kernel = lowering.lower("compute_" + result.name);
  const std::string& shared = result.tensor->shares_pattern_of;
  const Expr size =
      shared.empty() ? dense_size(nest, result) : Expr(loop::Var::make(count_name(shared)));
  // Padding of blocks is never visited.
  const bool zeroed = (lowering.needs_zeros() && !mutant("result-not-zeroed")) ||
                      result.tensor->type.format.has_blocks();
  program.steps.push_back(loop::LetStep{
      chunks_name(result.name), lowering.can_be_cut() ? chunk_count(nest, 1) : IntConst::make(1)});
  program.steps.push_back(
      loop::AllocateStep{buffers_of(result.name, result.tensor->type).values, size, zeroed});
  program.steps.push_back(loop::LaunchStep{kernel.name});
  program.kernels.push_back(std::move(kernel));
}

void lower_new_structure(const nest::Nest& nest, const ResultInfo& result,
                         loop::HostProgram& program) {
  KernelLowering counting(nest, Phase::Count), filling(nest, Phase::Fill);
  loop::Kernel count = counting.lower("count_" + result.name);
  loop::Kernel fill = filling.lower("fill_" + result.name);
  const Format& format = result.tensor->type.format;
  const std::vector<ResultGroup> groups = result_groups(format);
  const Expr chunks = loop::Var::make(chunks_name(result.name));
  auto& steps = program.steps;

  steps.push_back(loop::LetStep{chunks_name(result.name), counting.can_be_cut()
                                                              ? chunk_count(nest, kChunksPerWorker)
                                                              : IntConst::make(1)});
  std::vector<loop::Buffer> entries;
  for (size_t g = 0; g < groups.size(); ++g) {
    entries.push_back(loop::make_buffer(count_buffer_name(result.name, g), DType::Int64));
    steps.push_back(loop::AllocateStep{entries[g], chunks + 1, true});
  }
  steps.push_back(loop::LaunchStep{count.name});
  const int64_t most = result.tensor->type.index_type == DType::Int32 ? INT32_MAX : INT64_MAX;
  std::vector<Expr> totals;
  for (size_t g = 0; g < groups.size(); ++g) {
    const std::string total = concat(result.name, "_total", g);
    steps.push_back(loop::ScanStep{entries[g], chunks});
    steps.push_back(loop::ReadStep{total, entries[g], chunks, most});
    totals.push_back(loop::Var::make(total));
  }

  const TensorBuffers buffers = buffers_of(result.name, result.tensor->type);
  const Coordinates coordinates(nest);
  Expr slots = IntConst::make(1);
  size_t group = 0;
  bool full_below = false;
  for (int l = 0; l < format.level_count(); ++l) {
    const Level& level = format.levels()[static_cast<size_t>(l)];
    const size_t at = static_cast<size_t>(l);
    if (buffers.pos[at]) steps.push_back(loop::AllocateStep{buffers.pos[at], slots + 1, false});
    if (is_full(level.kind)) {
      slots = slots * coordinates.level_extent(
                          level.expr, result.indices[static_cast<size_t>(level.expr.dimension)]);
      full_below = group > 0;
    } else {
      slots = totals[group];
      full_below = false;
      if (l == groups[group].last) ++group;
    }
    if (buffers.crd[at]) steps.push_back(loop::AllocateStep{buffers.crd[at], slots, false});
  }
  steps.push_back(loop::AllocateStep{buffers.values, slots, full_below || filling.needs_zeros()});
  steps.push_back(loop::LetStep{count_name(result.name), slots});
  steps.push_back(loop::LaunchStep{fill.name});
  for (const loop::Buffer& buffer : entries) steps.push_back(loop::FreeStep{buffer});
  program.kernels.push_back(std::move(count));
  program.kernels.push_back(std::move(fill));
}

}  // namespace

void lower_nest(const nest::Nest& nest, loop::HostProgram& program) {
  const ResultInfo result = find_result(nest);
  const bool known =
      result.tensor->type.format.is_dense() || !result.tensor->shares_pattern_of.empty();
  if (known) {
    lower_known_structure(nest, result, program);
  } else {
    lower_new_structure(nest, result, program);
  }
}

}  // namespace tulle::lower
