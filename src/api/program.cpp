// The public Program: resolves statements once, and compiles kernels for the sizes of calls.
#include <algorithm>
#include <map>
#include <optional>

#include "api/explain_statements.h"
#include "api/extent_sources.h"
#include "api/limited_program.h"
#include "api/out_formats.h"
#include "api/parsed_source.h"
#include "api/result_tensors.h"
#include "composite/composite.h"
#include "composite/operand_parts.h"
#include "driver/plan_summary.h"
#include "driver/program_key.h"
#include "driver/run_executable.h"
#include "driver/schedule_candidates.h"
#include "driver/tuned_schedules.h"
#include "driver/variant_table.h"
#include "expr/pattern_owner.h"
#include "runtime/heap.h"
#include "support/check.h"
#include "support/joined.h"
#include "tulle/tulle.h"

namespace tulle {

namespace {

class ResolvedExpression final : public Program {
 public:
  ResolvedExpression(const expr::ParsedProgram& parsed, const std::vector<TensorSpec>& operands,
                     const ProgramOptions& options, const CompileLimits& limits,
                     const jit::ContentHash& source)
      : operands_(operands), parts_(operands), options_(options) {
    expr::ResolveOptions resolving;
    resolving.out_formats = chosen_formats(parsed, options);
    program_ = plan::with_unique_indices(expr::resolve(parsed, parts_.types(), resolving));
    check_operands_are_read();
    const auto owners = pattern_owners();
    program_ = plan::decompose(program_, parts_.composites());
    statement_schedules(program_, options.schedule);
    extents_.emplace(program_, parts_, options_.ones);
    results_.emplace(program_.program, parts_, *extents_, owners);
    variants_.emplace(program_, parts_.specs(), extents_->indices(), options_, limits, source);
  }

  const std::vector<TensorSpec>& operands() const override { return operands_; }
  const std::vector<TensorSpec>& results() const override { return results_->specs(); }
  // Whether the program merges the parts of that operand before it uses them.
  bool merges(const std::string& operand) const { return program_.merged.contains(operand); }
  int64_t code_bytes() const override { return variants_->code_bytes(); }

  void run_into(const std::vector<TensorView>& given, Memory& memory, const RunOptions& options,
                std::vector<ResultTensor>& results) const override {
    // Reused from call to call. While they are in use, no other run starts in this thread.
    struct CallBuffers {
      std::vector<int64_t> extents, scalars;
      std::vector<void*> buffers, handles;
      std::vector<runtime::RunResult> found;
      std::vector<TensorView> parts;
    };
    thread_local CallBuffers kept;
    auto& [extents, scalars, buffers, handles, found, parts] = kept;
    const std::vector<TensorView>& views = parts_.views(given, parts);
    extents_->read(views, extents);
    results_->check_positions_fit(views);
    const Variant& variant = variants_->find(views, extents, options);
    const Executable& executable = variant.executable;

    const int threads = executable.gpu_program ? executable.gpu_threads : options.threads;
    variant.read_arguments(views, extents, threads, buffers, scalars);
    handles.assign(executable.result_count(), nullptr);
    found.assign(executable.result_count(), {});
    ResultMemory result_memory(memory, executable.results, handles, parts_.specs(), views,
                               options.device);
    run_executable(executable, buffers, scalars, result_memory, options, found);
    results_->collect(executable.results, views, found, handles, results);
  }

  std::string explain(const std::vector<TensorView>& given,
                      const RunOptions& options) const override {
    const std::string statements = explain_statements(program_.program) + parts_.text_of(given);
    CompileRequest request = request_for(given, options);
    std::string text;
    const StageSink sink = [&](std::string_view stage, const std::string& stage_text) {
      text += concat("\n== ", stage, " ==\n", stage_text);
    };
    if (!request.tuned.empty()) sink("tuning", describe_tuned_plan(request));
    compile_tuned(request, sink, [&] { text.clear(); });
    return concat("== summary ==\n", plan_summary(request), "\n", statements, text);
  }

  std::vector<ScheduleCandidate> candidates(const std::vector<TensorView>& given,
                                            const RunOptions& options) const override {
    CompileRequest request = request_for(given, options);
    request.tuned.clear();
    return schedule_candidates(request);
  }

  void keep_schedule(const std::vector<TensorView>& given, const RunOptions& options,
                     const MeasuredSchedule& measured) const override {
    keep_tuned_schedule(request_for(given, options), measured);
  }

 private:
  void check_operands_are_read() const {
    const auto& read = program_.program.operands;  // before composites are decomposed
    for (const TensorSpec& spec : operands_) {
      if (std::find(read.begin(), read.end(), spec.name) != read.end()) continue;
      user_error("'", spec.name, "' is given, but no statement reads it; ",
                 read.empty() ? "none reads any operand" : concat("they read ", joined(read)),
                 ". Remove it, or use it.");
    }
  }

  // The owner of the pattern of each result, or an empty name. It must run before composites are
  // decomposed.
  std::map<std::string, std::string> pattern_owners() const {
    std::map<std::string, std::string> owners;
    for (const std::string& result : program_.program.results) {
      const std::string owner = expr::pattern_owner(program_.program, result);
      if (!parts_.composites().contains(owner)) owners[result] = owner;
    }
    return owners;
  }

  CompileRequest request_for(const std::vector<TensorView>& given,
                             const RunOptions& options) const {
    std::vector<int64_t> extents;
    std::vector<TensorView> parts;
    const std::vector<TensorView>& views = parts_.views(given, parts);
    extents_->read(views, extents);
    return variants_->request(views, extents, options);
  }

  std::vector<TensorSpec> operands_;
  OperandParts parts_;
  ProgramOptions options_;
  plan::UniqueProgram program_;
  // These refer to the members above.
  std::optional<ExtentSources> extents_;
  std::optional<ResultTensors> results_;
  std::optional<VariantTable> variants_;
};

// Makes the program. Decomposes the operands that the schedule decomposes.
std::shared_ptr<const Program> make_program(const expr::ParsedProgram& parsed,
                                            const std::vector<TensorSpec>& operands,
                                            const ProgramOptions& options,
                                            const CompileLimits& limits,
                                            const jit::ContentHash& source) {
  const schedule::Decompositions taken = schedule::take_decompositions(options.schedule);
  require_sparse(operands, taken.steps);
  ProgramOptions inside = options;
  inside.schedule = taken.rest;
  auto program = std::make_shared<ResolvedExpression>(
      parsed, decomposed_specs(operands, taken.steps), inside, limits, source);
  for (const schedule::Decomposition& step : taken.steps) {
    if (!program->merges(step.operand)) continue;
    fail_at(step.place,
            concat("a statement that reads '", step.operand,
                   "' has a sparse result, cannot be computed part by part and combined by a sum, "
                   "product, maximum or minimum, or distinguishes the padding of block or diagonal "
                   "parts from missing entries (as a quotient does); remove the step, or write the "
                   "reduction as a separate statement"));
  }
  return decomposing_program(operands, taken.steps, std::move(program));
}

}  // namespace

std::shared_ptr<const Program> Program::from_notation(std::string_view text,
                                                      const std::vector<TensorSpec>& operands,
                                                      const ProgramOptions& options) {
  return limited_program(text, operands, options, {});
}

std::shared_ptr<const Program> limited_program(std::string_view text,
                                               const std::vector<TensorSpec>& operands,
                                               const ProgramOptions& options,
                                               const CompileLimits& limits) {
  return make_program(expr::parse_program(text), operands, options, limits,
                      source_of("notation", text, operands, options));
}

std::shared_ptr<const Program> Program::from_einsum(std::string_view equation,
                                                    const std::vector<TensorSpec>& operands,
                                                    const ProgramOptions& options) {
  return make_program(parsed_einsum(equation, operands, options), operands, options, {},
                      source_of("einsum", equation, operands, options));
}

void* allocate_kept(int64_t bytes) noexcept { return runtime::heap_allocate(bytes); }
void release_kept(void* memory, int64_t bytes) noexcept { runtime::heap_release(memory, bytes); }

}  // namespace tulle
