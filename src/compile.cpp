// The walk of a program through the stages, in order.
#include "compile.h"

#include <algorithm>
#include <atomic>

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
  for (const std::string& note : plan.notes) text += note + "\n";
  for (const plan::Step& step : plan.steps) {
    if (const auto* planned = std::get_if<plan::PlannedNest>(&step)) {
      const std::string schedule = schedule::to_string(planned->schedule);
      text += concat("schedule: ", schedule.empty() ? "none" : schedule, "\n");
    } else {
      const auto& sort = std::get<plan::SortEntries>(step);
      text += concat("sort ", sort.from, " into ", sort.to, "\n");
    }
  }
  return text;
}

struct NamedType {
  std::string name;
  const expr::TensorType* type;
};

// The parameters that every host program has: arrays of the operands, threads, extents of the
// indices, counts.
void add_parameters(const std::vector<NamedType>& operands, const std::vector<std::string>& indices,
                    loop::HostProgram& program) {
  for (const NamedType& operand : operands) {
    const lower::TensorBuffers buffers = lower::buffers_of(operand.name, *operand.type);
    for (size_t l = 0; l < buffers.pos.size(); ++l) {
      if (buffers.pos[l]) program.buffers.push_back({buffers.pos[l], false});
      if (buffers.crd[l]) program.buffers.push_back({buffers.crd[l], false});
    }
    program.buffers.push_back({buffers.values, false});
  }
  program.scalars.push_back({lower::kThreads, loop::kIndex});
  for (const std::string& index : indices)
    program.scalars.push_back({lower::extent_name(index), loop::kIndex});
  for (const NamedType& operand : operands) {
    program.scalars.push_back({lower::count_name(operand.name), loop::kIndex});
  }
}

void add_parameters(const CompileRequest& request, loop::HostProgram& program) {
  std::vector<NamedType> operands;
  std::vector<std::string> indices;
  for (const std::string& name : request.operands)
    operands.push_back({name, &request.program->program.tensors.at(name)});
  for (const auto& [index, uses] : request.program->extents) indices.push_back(index);
  add_parameters(operands, indices, program);
}

// Hands the arrays of a result out; those of its structure are an operand's where it shares one.
ResultLayout add_result(const NamedType& result, const std::string& shared_operand,
                        loop::HostProgram& program) {
  auto add = [&](const loop::Buffer& buffer) {
    if (!buffer) return -1;
    program.results.push_back(buffer);
    return static_cast<int>(program.results.size()) - 1;
  };
  ResultLayout layout{result.name, shared_operand, {}, {}, -1};
  const lower::TensorBuffers buffers = lower::buffers_of(result.name, *result.type);
  for (size_t l = 0; l < buffers.pos.size(); ++l) {
    const bool own = shared_operand.empty();
    layout.pos.push_back(own ? add(buffers.pos[l]) : -1);
    layout.crd.push_back(own ? add(buffers.crd[l]) : -1);
  }
  layout.values = add(buffers.values);
  return layout;
}

std::vector<ResultLayout> add_results(const CompileRequest& request, const plan::Plan& plan,
                                      loop::HostProgram& program) {
  std::vector<ResultLayout> layouts;
  for (const std::string& result : request.program->program.results) {
    const auto shared = plan.shared_patterns.find(result);
    const std::string operand =
        shared != plan.shared_patterns.end() ? shared->second : std::string();
    layouts.push_back(
        add_result({result, &request.program->program.tensors.at(result)}, operand, program));
  }
  return layouts;
}

// Finishes a nest by its schedule and appends what computes it.
void lower_scheduled(const nest::Nest& nest, const schedule::Schedule& schedule,
                     lower::Device device, loop::HostProgram& program, StageTimes& times,
                     const StageSink& sink) {
  show(sink, "nest", [&] { return nest::to_string(nest); });
  times.end("lower");
  const nest::Nest scheduled = schedule::apply(schedule, nest);
  times.end("schedule");
  show(sink, "schedule", [&] { return nest::to_string(scheduled); });
  if (device == lower::Device::Cpu && nest::has_bound_loops(scheduled.root)) {
    user_error(
        "The schedule binds loops to a GPU, and this is compiled for a CPU; use parallel and ",
        "vectorize instead of bind.");
  }
  lower::lower_nest(scheduled, program, device);
  times.end("lower");
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
  return {request.program, request.known_extents, request.statistics, request.machine,
          request.tuned.empty() ? statement_schedules(*request.program, request.schedule)
                                : request.tuned};
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

  const lower::Device device =
      request.machine.kind == plan::Machine::Kind::Gpu ? lower::Device::Gpu : lower::Device::Cpu;
  LoweredProgram lowered;
  loop::HostProgram& program = lowered.program;
  program.name = "program";
  add_parameters(request, program);
  for (const auto& [index, same] : plan.extent_aliases) {
    program.steps.push_back(
        loop::LetStep{lower::extent_name(index), loop::Var::make(lower::extent_name(same))});
  }
  for (const plan::Step& step : plan.steps) {
    if (const auto* sort = std::get_if<plan::SortEntries>(&step)) {
      lower::sort_entries(sort->from, sort->to, sort->type, program, device);
      continue;
    }
    const auto& planned = std::get<plan::PlannedNest>(step);
    lower_scheduled(planned.nest, planned.schedule, device, program, times, sink);
  }
  lowered.results = add_results(request, plan, program);
  lower::free_temporaries(program);
  times.end("lower");
  TULLE_LOG(Info, "planned ", title(request), ": ", times.text(), " ms");
  show(sink, "lower", [&] { return loop::to_string(program); });
  return lowered;
}

loop::HostProgram lower_single_nest(const nest::Nest& nest, const std::string& schedule,
                                    lower::Device device, const StageSink& sink) {
  loop::HostProgram program;
  program.name = "program";
  std::vector<NamedType> operands;
  std::vector<std::string> indices;
  for (const auto& [name, tensor] : nest.tensors) {
    if (tensor.role == nest::Tensor::Role::Operand) operands.push_back({name, &tensor.type});
  }
  for (const auto& [name, variable] : nest.variables) {
    if (variable.origin == nest::Variable::Origin::Source) indices.push_back(name);
  }
  add_parameters(operands, indices, program);
  StageTimes times;
  lower_scheduled(nest, schedule::parse_schedule(schedule), device, program, times, sink);
  for (const auto& [name, tensor] : nest.tensors) {
    if (tensor.role == nest::Tensor::Role::Result)
      add_result({name, &tensor.type}, tensor.shares_pattern_of, program);
  }
  show(sink, "lower", [&] { return loop::to_string(program); });
  return program;
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
