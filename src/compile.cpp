// The walk of a program through the stages, in order.
#include "compile.h"

#include <algorithm>
#include <atomic>
#include <set>

#include "codegen/emit.h"
#include "codegen/library.h"
#include "expr/print.h"
#include "jit/kernel_cache.h"
#include "loop/plain_names.h"
#include "loop/print.h"
#include "loop/verify.h"
#include "lower/lower.h"
#include "lower/storage.h"
#include "passes/pipeline.h"
#include "runtime/kernel_symbols.h"
#include "runtime/thread_pool.h"
#include "schedule/distribute.h"
#include "schedule/schedule.h"
#include "support/check.h"
#include "support/log.h"
#include "support/mutant.h"
#include "support/no_fork.h"
#include "support/parallelism.h"

namespace tulle {

namespace {

void show(const StageSink& sink, std::string_view stage, const std::function<std::string()>& text) {
  if (sink) sink(stage, text());
}

// The statements on one line, for the log.
std::string title(const CompileRequest& request) {
  std::string text = expr::to_string(expr::Program{request.program->program.statements});
  std::replace(text.begin(), text.end(), '\n', ';');
  while (text.ends_with(';')) text.pop_back();
  return text;
}

std::string text_of(const plan::Plan& plan) {
  std::string text;
  for (const std::string& line : plan.lines) text += line + "\n";
  return text;
}

// The parameters that every host program has: arrays of the operands, threads, extents of the
// indices, counts.
void add_parameters(const schedule::Program& nests, loop::HostProgram& program) {
  for (const std::string& operand : nests.operands) {
    const lower::TensorBuffers buffers = lower::buffers_of(operand, nests.type_of(operand));
    for (size_t l = 0; l < buffers.pos.size(); ++l) {
      if (buffers.pos[l]) program.buffers.push_back({buffers.pos[l], false});
      if (buffers.crd[l]) program.buffers.push_back({buffers.crd[l], false});
    }
    program.buffers.push_back({buffers.values, false});
  }
  program.scalars.push_back({lower::kThreads, loop::kIndex});
  for (const std::string& index : nests.indices)
    program.scalars.push_back({lower::extent_name(index), loop::kIndex});
  for (const std::string& operand : nests.operands)
    program.scalars.push_back({lower::count_name(operand), loop::kIndex});
}

// Hands the arrays of a result out; those of its structure are an operand's where it shares one.
ResultLayout add_result(const std::string& result, const schedule::Program& nests,
                        loop::HostProgram& program) {
  auto add = [&](const loop::Buffer& buffer) {
    if (!buffer) return -1;
    program.results.push_back(buffer);
    return static_cast<int>(program.results.size()) - 1;
  };
  ResultLayout layout{result, nests.pattern_of(result), {}, {}, -1};
  const lower::TensorBuffers buffers = lower::buffers_of(result, nests.type_of(result));
  for (size_t l = 0; l < buffers.pos.size(); ++l) {
    const bool own = layout.shared_operand.empty();
    layout.pos.push_back(own ? add(buffers.pos[l]) : -1);
    layout.crd.push_back(own ? add(buffers.crd[l]) : -1);
  }
  layout.values = add(buffers.values);
  return layout;
}

// The nests finished by their schedules.
schedule::Program finished(const schedule::Program& nests, lower::Device device) {
  schedule::Program scheduled = schedule::apply(nests);
  for (const schedule::ProgramStep& step : scheduled.steps) {
    const auto* nest = std::get_if<schedule::ScheduledNest>(&step);
    if (device == lower::Device::Cpu && nest && nest::has_bound_loops(nest->nest.root)) {
      user_error(
          "The schedule binds loops to a GPU, and this is compiled for a CPU; use parallel and ",
          "vectorize instead of bind.");
    }
  }
  return scheduled;
}

// What the plan hands on.
schedule::Program nests_of(const CompileRequest& request, const plan::Plan& plan) {
  const expr::ResolvedProgram& program = request.program->program;
  schedule::Program nests;
  nests.operands = request.operands;
  nests.results = program.results;
  nests.same_extents = plan.extent_aliases;
  for (const auto& [index, uses] : request.program->extents) nests.indices.push_back(index);
  std::set<std::string> read;
  for (const plan::Step& step : plan.steps) {
    if (const auto* sort = std::get_if<plan::SortEntries>(&step)) {
      nests.steps.emplace_back(schedule::SortEntries{sort->from, sort->to});
      continue;
    }
    const auto& planned = std::get<plan::PlannedNest>(step);
    for (const auto& [name, tensor] : planned.nest.tensors) read.insert(name);
    nests.steps.emplace_back(schedule::ScheduledNest{planned.nest, planned.schedule});
  }
  for (const std::string& operand : nests.operands) {
    if (!read.contains(operand)) nests.unread[operand] = program.tensors.at(operand);
  }
  return nests;
}

jit::KernelCache& kernel_cache() {
  static auto* instance = [] {
    jit::Symbols symbols = runtime::kernel_symbols();
    const jit::Symbols functions = codegen::library_symbols();
    symbols.insert(symbols.end(), functions.begin(), functions.end());
    return new jit::KernelCache(symbols, jit::cache_directory_from_environment());
  }();
  return *instance;  // outlives every user at exit
}

// Everything that the code of kernels depends on.
jit::ContentHash key_of(const std::vector<loop::Kernel>& kernels, const codegen::Target& target) {
  std::string text;
  for (const loop::Kernel& kernel : kernels) text += loop::to_string(kernel);
  return jit::hash_of({target.triple, target.cpu, target.features, target.light ? "light" : "",
                       active_mutant(), text});
}

// codegen: an object file with these kernels.
std::vector<char> generate_code(const std::vector<loop::Kernel>& kernels,
                                const codegen::Target& target, const StageSink& sink = {}) {
  StageTimes times;
  codegen::Module module = codegen::emit_cpu(kernels, target);
  times.end("emit");
  codegen::optimise(module);
  times.end("optimise");
  show(sink, "codegen", [&] { return codegen::print_llvm(module); });
  show(sink, "assembly", [&] { return codegen::assembly(module); });
  std::vector<char> object = codegen::object(module);
  times.end("object");
  TULLE_LOG(Debug, "code generation: ", times.text(), " ms");
  return object;
}

// codegen: the text of kernels for a GPU.
std::string generate_ptx(const std::vector<loop::Kernel>& kernels, const codegen::Target& target,
                         const StageSink& sink = {}) {
  StageTimes times;
  codegen::Module module = codegen::emit_gpu(kernels, target);
  times.end("emit");
  codegen::optimise(module);
  times.end("optimise");
  show(sink, "codegen", [&] { return codegen::print_llvm(module); });
  std::string text = codegen::ptx(module);
  times.end("ptx");
  show(sink, "ptx", [&] { return text; });
  TULLE_LOG(Debug, "code generation: ", times.text(), " ms");
  return text;
}

// The object files of kernels, several at a time where the caller has threads, the longest first.
std::vector<std::vector<char>> generate_objects(const std::vector<const loop::Kernel*>& kernels,
                                                const codegen::Target& target, int threads) {
  std::vector<std::vector<char>> objects(kernels.size());
  std::vector<std::pair<size_t, size_t>> by_length;
  for (size_t at = 0; at < kernels.size(); ++at)
    by_length.emplace_back(loop::to_string(*kernels[at]).size(), at);
  std::sort(by_length.rbegin(), by_length.rend());
  std::atomic<size_t> next = 0;
  const auto work = [&](int) {
    for (size_t at = next++; at < kernels.size(); at = next++) {
      const size_t kernel = by_length[at].second;
      objects[kernel] = generate_code({*kernels[kernel]}, target);
    }
  };
  const int workers = std::min(threads, static_cast<int>(kernels.size()));
  NoParallelism serial;
  parallel_for_or_throw(workers > 1 ? runtime::default_parallelism() : serial, workers, work);
  return objects;
}

// codegen and jit for the CPU. Every kernel is an object of its own without the names that this
// program gave it, so that programs share what they have in common: above all conversions.
void make_ready(const loop::HostProgram& program, const CompileRequest& request,
                const StageSink& sink, Executable& executable) {
  std::vector<loop::KernelFunction> functions;
  if (sink) {  // which is to see the whole
    std::vector<std::string> names;
    for (const loop::Kernel& kernel : program.kernels) names.push_back(kernel.name);
    const auto code =
        kernel_cache().load(generate_code(program.kernels, request.target, sink), names);
    for (const std::string& name : names) functions.push_back(code->kernel(name));
    executable.code = {code};
  } else {
    const std::string name = "kernel";
    std::vector<loop::Kernel> kernels;
    std::vector<jit::KernelCache::WantedCode> wanted;
    for (const loop::Kernel& named : program.kernels) {
      // Checked kernels speak of their buffers.
      kernels.push_back(request.checked ? named : loop::with_plain_names(named));
      kernels.back().name = name;
      wanted.push_back({key_of({kernels.back()}, request.target), {name}});
    }
    executable.code = kernel_cache().find(wanted, [&](const std::vector<size_t>& missing) {
      std::vector<const loop::Kernel*> needed;
      for (const size_t at : missing) needed.push_back(&kernels[at]);
      return generate_objects(needed, request.target, request.machine.threads);
    });
    for (const auto& code : executable.code) functions.push_back(code->kernel(name));
  }
  executable.program = std::make_unique<runtime::CompiledProgram>(program, functions);
}

// The same for a GPU.
void make_ready_on_gpu(const loop::HostProgram& program, const CompileRequest& request,
                       const StageSink& sink, Executable& executable) {
  const cuda::Device& device = cuda::device(request.device);
  if (sink) generate_ptx(program.kernels, request.target, sink);
  std::vector<cuda::Function> functions;
  for (const loop::Kernel& named : program.kernels) {
    const std::vector<loop::Kernel> kernel = {loop::with_plain_names(named)};
    const std::string& name = kernel.front().name;
    const auto generate = [&] { return generate_ptx(kernel, request.target); };
    auto code = kernel_cache().find_gpu(key_of(kernel, request.target), device, {name}, generate);
    functions.push_back(code->kernel(name));
    executable.gpu_code.push_back(std::move(code));
  }
  executable.gpu_threads = request.machine.threads;
  executable.gpu_program = std::make_unique<runtime::GpuProgram>(program, functions, device);
}

}  // namespace

std::vector<schedule::Schedule> statement_schedules(const plan::UniqueProgram& program,
                                                    std::string_view schedule) {
  std::vector<schedule::Scope> scopes;
  for (size_t s = 0; s < program.program.statements.size(); ++s) {
    scopes.push_back(schedule::scope_of(program.program.statements[s], program.renamed[s]));
  }
  return schedule::distribute(schedule::parse_schedule(schedule), std::move(scopes));
}

namespace {

plan::Request plan_request(const CompileRequest& request) {
  plan::Request wanted{request.program, request.known_extents, request.statistics, request.machine,
                       request.tuned.empty()
                           ? statement_schedules(*request.program, request.schedule)
                           : request.tuned};
  wanted.decisions = request.decisions;
  return wanted;
}

}  // namespace

std::vector<plan::ScheduleSpace> schedule_spaces(const CompileRequest& request) {
  plan::Request wanted = plan_request(request);
  wanted.with_spaces = true;
  return plan::make_plan(wanted).spaces;
}

LoweredProgram lower_program(const CompileRequest& request, const StageSink& sink) {
  const plan::Request wanted = plan_request(request);
  StageTimes times;
  const plan::Plan plan = plan::make_plan(wanted);
  times.end("plan");
  TULLE_LOG(Debug, "plan of ", title(request), "\n", text_of(plan));
  show(sink, "plan", [&] { return text_of(plan); });

  LoweredProgram lowered = lower_nests(nests_of(request, plan), device_of(request.machine), sink);
  times.end("lower");
  TULLE_LOG(Info, "planned ", title(request), ": ", times.text(), " ms");
  return lowered;
}

lower::Device device_of(const plan::Machine& machine) {
  return machine.kind == plan::Machine::Kind::Gpu ? lower::Device::Gpu : lower::Device::Cpu;
}

LoweredProgram lower_nests(const schedule::Program& nests, lower::Device device,
                           const StageSink& sink) {
  show(sink, "nest", [&] { return schedule::to_string(nests); });
  const schedule::Program scheduled = finished(nests, device);
  show(sink, "schedule", [&] { return schedule::to_string(scheduled); });
  LoweredProgram lowered;
  loop::HostProgram& program = lowered.program;
  program.name = "program";
  add_parameters(scheduled, program);
  for (const auto& [index, same] : scheduled.same_extents) {
    program.steps.push_back(
        loop::LetStep{lower::extent_name(index), loop::Var::make(lower::extent_name(same))});
  }
  for (const schedule::ProgramStep& step : scheduled.steps) {
    if (const auto* sort = std::get_if<schedule::SortEntries>(&step)) {
      lower::sort_entries(sort->from, sort->to, scheduled.type_of(sort->to), program, device);
    } else {
      lower::lower_nest(std::get<schedule::ScheduledNest>(step).nest, program, device);
    }
  }
  for (const std::string& result : scheduled.results)
    lowered.results.push_back(add_result(result, scheduled, program));
  lower::free_temporaries(program);
  show(sink, "lower", [&] { return loop::to_string(program); });
  return lowered;
}

loop::HostProgram optimise_program(loop::HostProgram program, const CompileRequest& request,
                                   const StageSink& sink) {
  passes::PipelineOptions options;
  options.checked = request.checked;
  options.verify = request.verify_passes;
  options.gpu = codegen::is_gpu(request.target);
  options.masks = !options.gpu && request.machine.vector_bytes > 16;
  passes::PipelineResult result = passes::run_passes(std::move(program), options);
  show(sink, "passes", [&] {
    std::string text = loop::to_string(result.program);
    for (const std::string& remark : result.remarks) text += "// " + remark + "\n";
    return text;
  });
  return std::move(result.program);
}

Executable compile(const CompileRequest& request, const StageSink& sink) {
  const NoFork no_fork;
  LoweredProgram lowered = lower_program(request, sink);
  StageTimes times;
  const loop::HostProgram program = optimise_program(std::move(lowered.program), request, sink);
  times.end("passes");
  loop::verify(program);
  times.end("verify");

  Executable executable;
  if (codegen::is_gpu(request.target)) {
    make_ready_on_gpu(program, request, sink, executable);
  } else {
    make_ready(program, request, sink, executable);
  }
  times.end("code");
  for (const loop::BufferParam& param : program.buffers)
    executable.buffers.push_back(param.buffer->name);
  for (const loop::ScalarParam& param : program.scalars) executable.scalars.push_back(param.name);
  executable.results = std::move(lowered.results);
  times.end("prepare");
  TULLE_LOG(Debug, "made ready: ", times.text(), " ms");
  return executable;
}

int64_t Executable::code_bytes() const {
  int64_t bytes = 0;
  for (const auto& kernel : code) bytes += kernel->bytes();
  for (const auto& kernel : gpu_code) bytes += kernel->bytes();
  return bytes;
}

}  // namespace tulle
