// Adds the steps around one kernel.
#include "lower/programs/known_structure.h"

#include <utility>

#include "lower/lower.h"
#include "lower/programs/derived.h"
#include "lower/programs/start_result.h"
#include "lower/storage.h"
#include "nest/bound_loops.h"
#include "support/mutant.h"

namespace tulle::lower {

using loop::Expr;

namespace {

// Whether elements must be initialised before the kernel runs, with zero or the start of an
// accumulation.
bool needs_start(const ResultInfo& result, const KernelFacts& facts, bool shares_result) {
  // The kernel never visits padding of blocks or slots without an entry.
  const Format& format = result.format();
  return (facts.needs_zeros && !mutant("result-not-zeroed")) || shares_result ||
         format.has_blocks() || format.has_gaps();
}

// Allocates a new result and prepares its elements for the kernel.
void prepare_result(const nest::Nest& nest, const ResultInfo& result, const LoweredKernel& lowered,
                    const Options& options, bool is_started, loop::HostProgram& program) {
  const bool is_new = result.tensor->onto.empty();
  const std::string& shared = result.tensor->shares_pattern_of;
  const Expr size = shared.empty() ? dense_size(nest, result)
                                   : loop::Var::make(count_name(shared)) *
                                         extent_below(nest, result, nest.tensor(shared));
  const Expr& start = lowered.start;
  if (!nest::has_bound_loops(nest.root)) {
    const Expr started = is_new && is_started && start ? size : Expr();
    program.steps.push_back(loop::LetStep{chunks_name(result.name),
                                          chunk_count(nest, lowered.facts, options, 1, started)});
  }
  if (!is_new) return;
  const loop::Buffer values = buffers_of(result.name, result.tensor->type).values;
  program.steps.push_back(loop::AllocateStep{values, size, is_started && !start});
  if (is_started && start) start_result(result, size, start, options, program);
}

}  // namespace

void lower_known_structure(const nest::Nest& nest, const ResultInfo& result, const Options& options,
                           bool shares_result, loop::HostProgram& program) {
  KernelRequest request{.name = kernel_name(nest),
                        .phase = Phase::Compute,
                        .options = options,
                        .shares_result = shares_result};
  LoweredKernel lowered = lower_kernel(nest, request);
  const KernelFacts& facts = lowered.facts;
  const bool is_started = needs_start(result, facts, shares_result);
  prepare_result(nest, result, lowered, options, is_started, program);
  for (const Derived& derived : facts.derived) add_derived(derived, program);
  if (result.tensor->onto.empty() && facts.shared_rows.positions && !is_started)
    start_shared_rows(nest, result, facts.shared_rows, lowered.start, options, program);

  const auto row_pieces = lowered.row_pieces;
  const bool is_merged = lowered.has_row_pieces;
  for (const auto& [pieces, count] : row_pieces)
    program.steps.push_back(loop::AllocateStep{pieces, count, false});
  add_kernel(std::move(lowered), program);
  if (!is_merged) return;
  add_kernel(lower_kernel(
                 nest, {.name = "merge_" + result.name, .phase = Phase::Merge, .options = options}),
             program);
  for (const auto& [pieces, count] : row_pieces) program.steps.push_back(loop::FreeStep{pieces});
}

}  // namespace tulle::lower
