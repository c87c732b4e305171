// The walk of a program through the stages, in order.
#include "compile.h"

#include "codegen/emit.h"
#include "jit/engine.h"
#include "loop/print.h"
#include "loop/verify.h"
#include "lower/lower.h"
#include "lower/storage.h"
#include "passes/pipeline.h"
#include "runtime/kernel_symbols.h"
#include "schedule/schedule.h"
#include "support/check.h"

namespace tulle {

namespace {

void show(const StageSink& sink, std::string_view stage, const std::function<std::string()>& text) {
  if (sink) sink(stage, text());
}

std::string text_of(const plan::Plan& plan) {
  std::string text;
  for (const std::string& note : plan.notes) text += note + "\n";
  for (const plan::Step& step : plan.steps) {
    if (const auto* planned = std::get_if<plan::PlannedNest>(&step)) {
      text += concat("schedule: ", planned->schedule.empty() ? "none" : planned->schedule, "\n");
    } else {
      const auto& sort = std::get<plan::SortEntries>(step);
      text += concat("sort ", sort.from, " into ", sort.to, "\n");
    }
  }
  return text;
}

// The parameters that every host program of this request has: arrays of the operands, extents, counts, threads.
void add_parameters(const CompileRequest& request, loop::HostProgram& program) {
  for (const std::string& operand : request.operands) {
    const lower::TensorBuffers buffers =
        lower::buffers_of(operand, request.program->program.tensors.at(operand));
    for (size_t l = 0; l < buffers.pos.size(); ++l) {
      if (buffers.pos[l]) program.buffers.push_back({buffers.pos[l], false});
      if (buffers.crd[l]) program.buffers.push_back({buffers.crd[l], false});
    }
    program.buffers.push_back({buffers.values, false});
  }
  program.scalars.push_back({lower::kThreads, loop::kIndex});
  for (const auto& [index, uses] : request.program->extents) {
    program.scalars.push_back({lower::extent_name(index), loop::kIndex});
  }
  for (const std::string& operand : request.operands) {
    program.scalars.push_back({lower::count_name(operand), loop::kIndex});
  }
}

std::vector<ResultLayout> add_results(const CompileRequest& request, const plan::Plan& plan,
                                      loop::HostProgram& program) {
  std::vector<ResultLayout> layouts;
  auto add = [&](const loop::Buffer& buffer) {
    if (!buffer) return -1;
    program.results.push_back(buffer);
    return static_cast<int>(program.results.size()) - 1;
  };
  for (const std::string& result : request.program->program.results) {
    ResultLayout layout{result, {}, {}, {}, -1};
    const auto shared = plan.shared_patterns.find(result);
    if (shared != plan.shared_patterns.end()) layout.shared_operand = shared->second;
    const expr::TensorType& type = request.program->program.tensors.at(result);
    const lower::TensorBuffers buffers = lower::buffers_of(result, type);
    for (size_t l = 0; l < buffers.pos.size(); ++l) {
      const bool own = layout.shared_operand.empty();
      layout.pos.push_back(own ? add(buffers.pos[l]) : -1);
      layout.crd.push_back(own ? add(buffers.crd[l]) : -1);
    }
    layout.values = add(buffers.values);
    layouts.push_back(std::move(layout));
  }
  return layouts;
}

jit::Engine& engine() {
  static auto* instance = new jit::Engine(runtime::kernel_symbols());  // outlives every user at exit
  return *instance;
}

}  // namespace

LoweredProgram lower_program(const CompileRequest& request, const StageSink& sink) {
  plan::Request wanted{request.program, request.known_extents, request.statistics, request.machine, request.schedule};
  const plan::Plan plan = plan::make_plan(wanted);
  show(sink, "plan", [&] { return text_of(plan); });

  LoweredProgram lowered;
  loop::HostProgram& program = lowered.program;
  program.name = "program";
  add_parameters(request, program);
  for (const auto& [index, same] : plan.extent_aliases) {
    program.steps.push_back(loop::LetStep{lower::extent_name(index), loop::Var::make(lower::extent_name(same))});
  }
  for (const plan::Step& step : plan.steps) {
    if (const auto* sort = std::get_if<plan::SortEntries>(&step)) {
      lower::sort_entries(sort->from, sort->to, sort->type, program);
      continue;
    }
    const auto& planned = std::get<plan::PlannedNest>(step);
    show(sink, "nest", [&] { return nest::to_string(planned.nest); });
    const nest::Nest scheduled = schedule::apply(schedule::parse_schedule(planned.schedule), planned.nest);
    show(sink, "schedule", [&] { return nest::to_string(scheduled); });
    lower::lower_nest(scheduled, program);
  }
  lowered.results = add_results(request, plan, program);
  show(sink, "lower", [&] { return loop::to_string(program); });
  return lowered;
}

loop::HostProgram optimise_program(loop::HostProgram program, const CompileRequest& request, const StageSink& sink) {
  passes::PipelineOptions options;
  options.checked = request.checked;
  options.masks = request.machine.vector_bytes > 16;
  passes::PipelineResult result = passes::run_passes(std::move(program), options);
  show(sink, "passes", [&] {
    std::string text = loop::to_string(result.program);
    for (const std::string& remark : result.remarks) text += "// " + remark + "\n";
    return text;
  });
  return std::move(result.program);
}

Executable compile(const CompileRequest& request, const StageSink& sink) {
  LoweredProgram lowered = lower_program(request, sink);
  const loop::HostProgram program = optimise_program(std::move(lowered.program), request, sink);
  loop::verify(program);

  codegen::Module module = codegen::emit_cpu(program.kernels, request.target);
  codegen::optimise(module);
  show(sink, "codegen", [&] { return codegen::print_llvm(module); });
  show(sink, "assembly", [&] { return codegen::assembly(module); });
  const std::vector<char> object = codegen::object(module);

  std::vector<std::string> names;
  for (const loop::Kernel& kernel : program.kernels) names.push_back(kernel.name);
  Executable executable;
  executable.code = engine().load(object, names);
  std::vector<loop::KernelFunction> functions;
  for (const std::string& name : names) functions.push_back(executable.code->kernel(name));
  executable.program = std::make_unique<runtime::CompiledProgram>(program, functions);
  for (const loop::BufferParam& param : program.buffers) executable.buffers.push_back(param.buffer->name);
  for (const loop::ScalarParam& param : program.scalars) executable.scalars.push_back(param.name);
  executable.results = std::move(lowered.results);
  return executable;
}

}  // namespace tulle
