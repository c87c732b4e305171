// The passes, in the order in which they run.
#include "passes/pipeline.h"

#include "loop/verify.h"
#include "passes/advance_loads.h"
#include "passes/carry_loads.h"
#include "passes/contract_fma.h"
#include "passes/expand_functions.h"
#include "passes/expand_scans.h"
#include "passes/expand_sorts.h"
#include "passes/hoist_conditions.h"
#include "passes/insert_bounds_checks.h"
#include "passes/load_ahead.h"
#include "passes/promote_accumulators.h"
#include "passes/scatter_sums.h"
#include "passes/share_loads.h"
#include "passes/simplify.h"
#include "passes/unroll_loops.h"
#include "passes/vectorize_loops.h"
#include "support/check.h"

namespace tulle::passes {

using namespace loop;

namespace {

struct Pass {
  std::string_view name;
  HostProgram (*run)(HostProgram program, const PipelineOptions& options, Remarks& remarks);
};

// A pass over each kernel of the program.
template <Kernel (*run)(Kernel)>
HostProgram each_kernel(HostProgram program, const PipelineOptions&, Remarks&) {
  for (Kernel& kernel : program.kernels) kernel = run(std::move(kernel));
  return program;
}

HostProgram expand_all(HostProgram program, const PipelineOptions& options, Remarks&) {
  for (Kernel& kernel : program.kernels) kernel = expand_functions(std::move(kernel), options.gpu);
  return program;
}

HostProgram unroll_all(HostProgram program, const PipelineOptions& options, Remarks& remarks) {
  if (options.light) return program;
  for (Kernel& kernel : program.kernels)
    kernel = unroll_loops(std::move(kernel), options.gpu, remarks);
  return program;
}

HostProgram vectorize_all(HostProgram program, const PipelineOptions& options, Remarks& remarks) {
  const VectorOptions vectors{.masks = options.masks, .gpu = options.gpu};
  for (Kernel& kernel : program.kernels)
    kernel = vectorize_loops(std::move(kernel), vectors, remarks);
  return program;
}

HostProgram check_all(HostProgram program, const PipelineOptions&, Remarks&) {
  return insert_bounds_checks(std::move(program));
}

// A pass over the program as a whole.
template <HostProgram (*run)(HostProgram)>
HostProgram whole_program(HostProgram program, const PipelineOptions&, Remarks&) {
  return run(std::move(program));
}

constexpr Pass kSorts{"expand_sorts", whole_program<expand_sorts>};
constexpr Pass kScans{"expand_scans", whole_program<expand_scans>};
constexpr Pass kSortCalls{"expand_sort_calls", each_kernel<expand_sort_calls>};
constexpr Pass kSimplify{"simplify", each_kernel<simplify>};
constexpr Pass kExpand{"expand_functions", expand_all};
constexpr Pass kHoist{"hoist_conditions", each_kernel<hoist_conditions>};
constexpr Pass kPromote{"promote_accumulators", each_kernel<promote_accumulators>};
constexpr Pass kScatter{"scatter_sums", each_kernel<scatter_sums>};
constexpr Pass kUnroll{"unroll_loops", unroll_all};
constexpr Pass kContract{"contract_fma", each_kernel<contract_fma>};
constexpr Pass kVectorize{"vectorize_loops", vectorize_all};
constexpr Pass kCarry{"carry_loads", each_kernel<carry_loads>};
constexpr Pass kAdvance{"advance_loads", each_kernel<advance_loads>};
constexpr Pass kShare{"share_loads", each_kernel<share_loads>};
constexpr Pass kAhead{"load_ahead", each_kernel<load_ahead>};
constexpr Pass kCheck{"insert_bounds_checks", check_all};

// What only a GPU needs.
constexpr bool is_for_gpu(const Pass& pass) {
  return pass.name == kSorts.name || pass.name == kScans.name || pass.name == kSortCalls.name ||
         pass.name == kHoist.name || pass.name == kScatter.name || pass.name == kAdvance.name ||
         pass.name == kShare.name || pass.name == kAhead.name;
}

constexpr Pass kPasses[] = {kSorts,    kScans,   kSortCalls, kExpand,   kHoist,     kPromote,
                            kScatter,  kUnroll,  kSimplify,  kContract, kVectorize, kCarry,
                            kSimplify, kAdvance, kShare,     kAhead,    kCheck};

void run(const Pass& pass, PipelineResult& result, const PipelineOptions& options) {
  result.program = pass.run(std::move(result.program), options, result.remarks);
  if (options.after_pass) options.after_pass(pass.name, result.program);
  if (!options.verify) return;
  try {
    verify(result.program);
  } catch (const InternalError& error) {
    internal_error("after ", pass.name, ": ", error.what());
  }
}

}  // namespace

HostProgram expand_steps(HostProgram program) {
  return expand_scans(expand_sorts(std::move(program)));
}

PipelineResult run_passes(HostProgram program, const PipelineOptions& options) {
  PipelineResult result{std::move(program), {}};
  for (const Pass& pass : kPasses) {
    if (pass.name == kCheck.name && !options.checked) continue;
    if (is_for_gpu(pass) && !options.gpu) continue;
    if ((pass.name == kShare.name || pass.name == kAhead.name) && options.light) continue;
    run(pass, result, options);
  }
  return result;
}

PipelineResult run_pass(std::string_view name, HostProgram program,
                        const PipelineOptions& options) {
  PipelineResult result{std::move(program), {}};
  std::string known;
  for (const Pass& pass : kPasses) {
    if (pass.name == name) {
      run(pass, result, options);
      return result;
    }
    if (known.find(pass.name) == std::string::npos)
      known += concat(known.empty() ? "" : ", ", pass.name);
  }
  user_error("no pass is called '", name, "'; there are ", known);
}

}  // namespace tulle::passes
