// The table of passes and the loop that runs them.
#include "passes/pipeline.h"

#include <algorithm>
#include <cstdlib>

#include "loop/verify.h"
#include "passes/advance_loads.h"
#include "passes/carry_loads.h"
#include "passes/chunk_sums.h"
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
#include "support/joined.h"

namespace tulle::passes {

using namespace loop;

namespace {

// Adapts a pass over one kernel.
template <Kernel (*pass)(Kernel)>
HostProgram each_kernel(HostProgram program, const PipelineOptions&, Remarks&) {
  for (Kernel& kernel : program.kernels) kernel = pass(std::move(kernel));
  return program;
}

template <Kernel (*pass)(Kernel, Backend)>
HostProgram each_kernel(HostProgram program, const PipelineOptions& options, Remarks&) {
  for (Kernel& kernel : program.kernels) kernel = pass(std::move(kernel), options.backend);
  return program;
}

template <Kernel (*pass)(Kernel, Backend, Remarks&)>
HostProgram each_kernel(HostProgram program, const PipelineOptions& options, Remarks& remarks) {
  for (Kernel& kernel : program.kernels) kernel = pass(std::move(kernel), options.backend, remarks);
  return program;
}

HostProgram vectorize_each(HostProgram program, const PipelineOptions& options, Remarks& remarks) {
  const VectorOptions vectors{.masks = options.masks, .backend = options.backend};
  for (Kernel& kernel : program.kernels)
    kernel = vectorize_loops(std::move(kernel), vectors, remarks);
  return program;
}

// Adapts a pass over a whole program.
template <HostProgram (*pass)(HostProgram)>
HostProgram whole_program(HostProgram program, const PipelineOptions&, Remarks&) {
  return pass(std::move(program));
}

constexpr PassDevices kGpu = PassDevices::Gpu;

constexpr Pass kPasses[] = {
    {.name = "expand_sorts",
     .function = whole_program<expand_sorts>,
     .devices = kGpu,
     .is_required = true},
    {.name = "expand_scans",
     .function = whole_program<expand_scans>,
     .devices = kGpu,
     .is_required = true},
    {.name = "expand_sort_calls",
     .function = each_kernel<expand_sort_calls>,
     .devices = kGpu,
     .is_required = true},
    {.name = "expand_functions", .function = each_kernel<expand_functions>, .is_required = true},
    {.name = "hoist_conditions", .function = each_kernel<hoist_conditions>, .devices = kGpu},
    {.name = "promote_accumulators", .function = each_kernel<promote_accumulators>},
    {.name = "chunk_sums", .function = each_kernel<chunk_sums>},
    {.name = "scatter_sums", .function = each_kernel<scatter_sums>, .devices = kGpu},
    {.name = "unroll_loops", .function = each_kernel<unroll_loops>, .in_light_code = false},
    {.name = "simplify", .function = each_kernel<simplify>},
    {.name = "contract_fma", .function = each_kernel<contract_fma>},
    {.name = "vectorize_loops", .function = vectorize_each},
    {.name = "carry_loads", .function = each_kernel<carry_loads>},
    {.name = "simplify", .function = each_kernel<simplify>},
    {.name = "advance_loads", .function = each_kernel<advance_loads>, .devices = kGpu},
    {.name = "share_loads",
     .function = each_kernel<share_loads>,
     .devices = kGpu,
     .in_light_code = false},
    {.name = "load_ahead",
     .function = each_kernel<load_ahead>,
     .devices = kGpu,
     .in_light_code = false},
    {.name = "insert_bounds_checks",
     .function = whole_program<insert_bounds_checks>,
     .only_checked = true,
     .is_required = true},
};

// The names of the passes for which the condition holds, each once, in run order.
template <typename Condition>
std::vector<std::string> names_of_passes(const Condition& condition) {
  std::vector<std::string> names;
  for (const Pass& pass : kPasses) {
    if (condition(pass) && std::find(names.begin(), names.end(), pass.name) == names.end())
      names.emplace_back(pass.name);
  }
  return names;
}

// Null if there is none.
const Pass* pass_named(std::string_view name) {
  const auto* pass = std::find_if(std::begin(kPasses), std::end(kPasses),
                                  [&](const Pass& other) { return other.name == name; });
  return pass == std::end(kPasses) ? nullptr : pass;
}

void check_can_disable(std::string_view name) {
  const Pass* pass = pass_named(name);
  if (pass && !pass->is_required) return;
  const auto optional = names_of_passes([](const Pass& other) { return !other.is_required; });
  user_error(pass ? "later stages need the pass '" : "no pass is called '", name,
             "'; the passes that can be disabled are ", joined(optional));
}

bool is_selected(const Pass& pass, const PipelineOptions& options) {
  const bool runs_on_backend = pass.devices == PassDevices::Both || is_gpu(options.backend);
  return runs_on_backend && (!options.light || pass.in_light_code) &&
         (options.checked || !pass.only_checked) &&
         std::find(options.disabled.begin(), options.disabled.end(), pass.name) ==
             options.disabled.end();
}

void run(const Pass& pass, PipelineResult& result, const PipelineOptions& options) {
  result.times.skip();
  result.program = pass.function(std::move(result.program), options, result.remarks);
  result.times.end(pass.name);
  if (options.after_pass) options.after_pass(pass.name, result.program);
  if (!options.verify) return;
  try {
    verify(result.program);
  } catch (const InternalError& error) {
    internal_error("after ", pass.name, ": ", error.what());
  }
}

}  // namespace

std::span<const Pass> pass_table() { return kPasses; }

const Pass& find_pass(std::string_view name) {
  if (const Pass* pass = pass_named(name)) return *pass;
  const auto all = names_of_passes([](const Pass&) { return true; });
  user_error("no pass is called '", name, "'; the passes are ", joined(all));
}

HostProgram expand_steps(HostProgram program) {
  return expand_scans(expand_sorts(std::move(program)));
}

PipelineResult run_passes(HostProgram program, const PipelineOptions& options) {
  for (const std::string& name : options.disabled) check_can_disable(name);
  PipelineResult result{std::move(program), {}, StageTimes(options.timed)};
  for (const Pass& pass : kPasses) {
    if (is_selected(pass, options)) run(pass, result, options);
  }
  return result;
}

PipelineResult run_pass(std::string_view name, HostProgram program,
                        const PipelineOptions& options) {
  const Pass& pass = find_pass(name);
  PipelineResult result{std::move(program), {}, StageTimes(options.timed)};
  run(pass, result, options);
  return result;
}

std::vector<std::string> parse_disabled_passes(std::string_view text) {
  std::vector<std::string> names;
  while (!text.empty()) {
    const size_t end = std::min(text.find(','), text.size());
    const std::string_view word = text.substr(0, end);
    if (!word.starts_with('-'))
      user_error("expected '-' and the name of a pass to disable, found '", word, "'");
    check_can_disable(word.substr(1));
    names.emplace_back(word.substr(1));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

const std::vector<std::string>& passes_disabled_by_environment() {
  static const std::vector<std::string> names = [] {
    const char* value = std::getenv("TULLE_PASSES");
    const std::string_view text = value ? value : "";
    try {
      return parse_disabled_passes(text);
    } catch (const UserError& error) {
      user_error("TULLE_PASSES=", text, ": ", error.what());
    }
  }();
  return names;
}

}  // namespace tulle::passes
