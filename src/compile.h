// The driver: takes a program through all stages. Start reading here.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/target.h"
#include "jit/content_hash.h"
#include "jit/engine.h"
#include "jit/gpu_module.h"
#include "loop/host.h"
#include "lower/lower.h"
#include "passes/pipeline.h"
#include "plan/plan.h"
#include "runtime/gpu_run.h"
#include "runtime/run.h"
#include "schedule/program.h"

namespace tulle {

// What a compilation depends on beside the program.
struct CompileRequest {
  const plan::UniqueProgram* program = nullptr;
  // What the program was made from (known_programs.h); none: it is not kept on disk.
  std::optional<jit::ContentHash> source = std::nullopt;
  std::vector<std::string> operands;             // in the order of the host program's parameters
  std::map<std::string, int64_t> known_extents;  // indices the kernels are specialised to
  std::map<std::string, plan::OperandStatistics> statistics;
  plan::Machine machine;
  codegen::Target target;
  int device = 0;        // the number of the GPU, where the target is one
  int host_threads = 1;  // for generating code
  std::string schedule;  // of the caller's; statements without steps in it are planned
  std::vector<schedule::Schedule> tuned;  // of each statement, where the caller gives none
  plan::Decisions decisions;              // what the plan is to keep to
  bool checked = false;
  bool verify_passes = false;  // every pass must hand on a valid program
};

// Called with the name of a stage's folder and the text of what it handed on.
using StageSink = std::function<void(std::string_view stage, const std::string& text)>;
inline void show(const StageSink& sink, std::string_view stage,
                 const std::function<std::string()>& text) {
  if (sink) sink(stage, text());
}

// One result in the host program's list of result buffers: structure by level (null where none),
// then values.
struct ResultLayout {
  std::string tensor;
  std::string shared_operand;  // whose structure it has; empty: its own
  std::vector<int> pos, crd;   // positions in HostProgram::results, -1 where the level stores none
  int values = -1;
};

struct LoweredProgram {
  loop::HostProgram program;
  std::vector<ResultLayout> results;
  double cost = 0;  // as the plan estimates it
};

// The statements on one line, for the log.
std::string title(const CompileRequest& request);

// The caller's schedule, statement by statement. UserError where a step is wrong or for none.
std::vector<schedule::Schedule> statement_schedules(const plan::UniqueProgram& program,
                                                    std::string_view schedule);

// plan: the plan of the request's program.
plan::Plan plan_program(const CompileRequest& request);

// plan: the schedules of the request's statements with their estimates, or what could be tried for
// those that assign these tensors.
std::vector<plan::ScheduleSpace> schedule_spaces(const CompileRequest& request, plan::Spaces spaces,
                                                 const std::set<std::string>& tensors = {});

// plan, schedule, lower: the host program before passes.
LoweredProgram lower_program(const CompileRequest& request, const StageSink& sink = {});

// schedule and lower: what follows from the nests of a plan, or of a text.
LoweredProgram lower_nests(const schedule::Program& nests, lower::Device device,
                           const StageSink& sink = {});
lower::Device device_of(const plan::Machine& machine);

passes::PipelineOptions pass_options(const CompileRequest& request);

// passes: the host program that code is generated for.
loop::HostProgram optimise_program(loop::HostProgram program, const CompileRequest& request,
                                   const StageSink& sink = {});

// A program ready to run, and what keeps its code loaded.
struct Executable {
  // On the CPU or on a GPU, the others are empty.
  std::vector<std::shared_ptr<const jit::LoadedObject>> code;  // of its kernels
  std::unique_ptr<const runtime::CompiledProgram> program;
  std::vector<std::shared_ptr<const jit::GpuModule>> gpu_code;  // of each kernel
  std::shared_ptr<runtime::GpuProgram> gpu_program;
  int gpu_threads = 0;                        // that the GPU has room for
  std::vector<std::string> buffers, scalars;  // the names of the parameters, in order
  std::vector<ResultLayout> results;

  size_t result_count() const {
    return gpu_program ? gpu_program->result_count() : program->result_count();
  }
  int64_t code_bytes() const;
};

// All stages.
Executable compile(const CompileRequest& request, const StageSink& sink = {});

}  // namespace tulle
