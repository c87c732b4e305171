// Finds the result of a nest and computes its number of chunks.
#include "lower/programs/result_info.h"

#include <algorithm>
#include <utility>

#include "lower/coordinates.h"
#include "lower/storage.h"
#include "nest/merged_rows.h"
#include "support/check.h"

namespace tulle::lower {

using loop::Binary;
using loop::BinaryOp;
using loop::Expr;
using loop::IntConst;

ResultInfo find_result(const nest::Nest& nest) {
  for (const nest::Assign* assign : nest::assigns(nest.root)) {
    const nest::Tensor& tensor = nest.tensor(assign->tensor);
    if (tensor.role == nest::Tensor::Role::Result)
      return {assign->tensor, &tensor, assign->indices};
  }
  internal_error("a nest without a result");
}

namespace {

// The product of the extents of the levels from this one on.
Expr extent_from(const nest::Nest& nest, const ResultInfo& result, size_t first) {
  const Coordinates coordinates(nest);
  const std::vector<Level>& levels = result.format().levels();
  Expr size = IntConst::make(1);
  for (size_t l = first; l < levels.size(); ++l)
    size = size * coordinates.level_extent(levels[l].expr, result.indices);
  return size;
}

}  // namespace

Expr dense_size(const nest::Nest& nest, const ResultInfo& result) {
  return extent_from(nest, result, 0);
}

Expr extent_below(const nest::Nest& nest, const ResultInfo& result, const nest::Tensor& owner) {
  return extent_from(nest, result, owner.type.format.levels().size());
}

namespace {

// The cost of one entry: the product of the constant extents of nested vector loops, summed over
// the statements of a sequence.
int64_t work_per_entry(const nest::Stmt& stmt, const nest::Nest& nest) {
  if (const auto* forall = stmt.as<nest::Forall>()) {
    const bool vector = forall->tag.kind == nest::LoopTag::Kind::Vector;
    return work_per_entry(forall->body, nest) *
           (vector ? nest.known_extent(forall->var).value_or(16) : 1);
  }
  if (const auto* where = stmt.as<nest::Where>()) return work_per_entry(where->producer, nest);
  if (const auto* sequence = stmt.as<nest::Sequence>()) {
    int64_t work = 0;
    for (const nest::Stmt& each : sequence->stmts) work += work_per_entry(each, nest);
    return work;
  }
  return 1;
}

}  // namespace

Expr chunk_count(const nest::Nest& nest, const KernelFacts& facts, const Options& options,
                 int64_t per_worker, const Expr& started) {
  const auto* root = nest.root.as<nest::Forall>();
  if (!facts.can_be_cut || !root || root->tag.kind != nest::LoopTag::Kind::Parallel)
    return IntConst::make(1);
  Expr work = started ? started : Expr(IntConst::make(0));
  if (facts.visits_extent) work = Coordinates(nest).extent(root->var);
  for (const auto& [name, tensor] : nest.tensors) {
    if (tensor.role == nest::Tensor::Role::Operand && !tensor.type.format.is_dense())
      work = work + loop::Var::make(count_name(name));
  }
  const Expr places = work;
  work = work * work_per_entry(nest.root, nest);
  const ChunkLimits& limits = options.limits;
  const int64_t least = options.on_gpu() ? std::min(limits.work_per_thread, limits.work_per_chunk)
                                         : limits.work_per_chunk;
  Expr useful = Binary::make(BinaryOp::Div, work, IntConst::make(least));
  // Rows that chunks share are merged from a part of every chunk between their ends, so no chunk is
  // empty.
  if (nest::loop_over_merged_rows(nest)) useful = loop::minimum(useful, places);
  const Expr most = loop::Var::make(kThreads) * (options.on_gpu() ? 1 : per_worker);
  return loop::maximum(IntConst::make(1), loop::minimum(most, useful));
}

void add_kernel(LoweredKernel lowered, loop::HostProgram& program) {
  program.steps.insert(program.steps.end(), lowered.launch.begin(), lowered.launch.end());
  program.kernels.push_back(std::move(lowered.kernel));
}

}  // namespace tulle::lower
