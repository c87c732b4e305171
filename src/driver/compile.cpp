// Takes a program through the stages, in order.
#include "driver/compile.h"

#include <algorithm>
#include <set>

#include "driver/program_key.h"
#include "expr/print.h"
#include "kernels/make_ready.h"
#include "loop/print.h"
#include "lower/lower.h"
#include "lower/programs/free_temporaries.h"
#include "lower/programs/fuse_launches.h"
#include "lower/programs/sort_entries.h"
#include "lower/storage.h"
#include "nest/bound_loops.h"
#include "schedule/checks/one_order.h"
#include "schedule/distribute.h"
#include "schedule/rewrites/fuse_launches.h"
#include "schedule/schedule.h"
#include "support/check.h"
#include "support/log.h"
#include "support/no_fork.h"

namespace tulle {

std::string title(const CompileRequest& request) {
  std::string text = expr::to_string(expr::ParsedProgram{request.plan.program->program.statements});
  std::replace(text.begin(), text.end(), '\n', ';');
  while (text.ends_with(';')) text.pop_back();
  return text;
}

namespace {

std::string text_of(const plan::Plan& plan) {
  std::string text;
  for (const std::string& line : plan.lines) text += line + "\n";
  return text;
}

// Adds the parameters of every host program: arrays of the operands, threads, extents of the
// indices, counts.
void add_parameters(const schedule::NestProgram& nests, loop::HostProgram& program) {
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
  for (const std::string& operand : nests.operands) {
    program.scalars.push_back({lower::count_name(operand), loop::kIndex});
    if (lower::counts_stored(nests.type_of(operand).format))
      program.scalars.push_back({lower::stored_name(operand), loop::kIndex});
  }
}

// Adds the arrays of a result to the program's results. A result that shares an operand's structure
// only adds its values.
ResultLayout add_result(const std::string& result, const schedule::NestProgram& nests,
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

using WantsOneOrder = schedule::WantsOneOrder;

// The reason why a caller's schedule must keep the order of sums. Nothing if any order is allowed.
std::optional<WantsOneOrder> order_requirement(const CompileRequest& request) {
  if (request.schedule.empty()) return std::nullopt;
  if (request.plan.machine.backend == Backend::Cpu) return WantsOneOrder::Cpu;
  return request.plan.machine.deterministic ? std::optional(WantsOneOrder::Caller) : std::nullopt;
}

// Applies the schedules to the nests.
schedule::NestProgram finished(const schedule::NestProgram& nests, Backend backend,
                               std::optional<WantsOneOrder> who, const StageSink& sink) {
  Remarks remarks;
  show(sink, "nest", [&] { return schedule::to_string(nests); });
  schedule::NestProgram scheduled = schedule::apply(nests, &remarks);
  for (const schedule::ProgramStep& step : scheduled.steps) {
    const auto* nest = std::get_if<schedule::ScheduledNest>(&step);
    const bool is_bound = nest && (nest::has_bound_loops(nest->nest.root) ||
                                   !nest::member_variables(nest->nest).empty());
    if (backend == Backend::Cpu && is_bound) {
      user_error(
          "The schedule binds loops to a GPU, and this is compiled for a CPU; use parallel and ",
          "vectorize instead of bind.");
    }
  }
  if (who) schedule::require_one_order(nests, scheduled, *who);
  show(sink, "schedule", [&] { return schedule::to_string(scheduled) + as_comments(remarks); });
  return scheduled;
}

// The nest that builds the entries to sort.
const nest::Nest& builder_of(const std::string& entries, const schedule::NestProgram& scheduled) {
  for (const schedule::ProgramStep& step : scheduled.steps) {
    const auto* built = std::get_if<schedule::ScheduledNest>(&step);
    if (!built || !built->nest.tensors.contains(entries)) continue;
    if (built->nest.tensor(entries).role == nest::Tensor::Role::Result) return built->nest;
  }
  internal_error("no nest builds ", entries);
}

void lower_steps(const schedule::NestProgram& scheduled, const lower::Options& options,
                 loop::HostProgram& program) {
  const std::vector<schedule::LaunchGroup> groups = schedule::launch_groups(scheduled);
  for (size_t s = 0; s < scheduled.steps.size(); ++s) {
    if (const auto* sort = std::get_if<schedule::SortEntries>(&scheduled.steps[s])) {
      const size_t levels = lower::levels_to_sort(builder_of(sort->from, scheduled), sort->from);
      lower::sort_entries({sort->from, sort->to, levels}, scheduled.type_of(sort->to), options,
                          program);
      continue;
    }
    const auto group = std::find_if(groups.begin(), groups.end(), [&](const auto& candidate) {
      return std::find(candidate.steps.begin(), candidate.steps.end(), s) != candidate.steps.end();
    });
    const auto nest_at = [&](size_t at) -> const nest::Nest& {
      return std::get<schedule::ScheduledNest>(scheduled.steps[at]).nest;
    };
    lower::lower_nest(nest_at(s), options, program, group != groups.end() && group->shares_result);
    if (group == groups.end() || group->steps.back() != s) continue;
    std::vector<std::string> kernels;
    for (const size_t at : group->steps) kernels.push_back(lower::kernel_name(nest_at(at)));
    lower::fuse_launches(kernels, program);
  }
}

// The nests and schedules of the plan as a program.
schedule::NestProgram nests_of(const CompileRequest& request, const plan::Plan& plan) {
  const expr::ResolvedProgram& program = request.plan.program->program;
  schedule::NestProgram nests;
  nests.operands = request.operands;
  nests.results = program.results;
  nests.same_extents = plan.extent_aliases;
  nests.steps = plan.steps;
  for (const auto& [index, uses] : request.plan.program->extents) nests.indices.push_back(index);
  std::set<std::string> read;
  for (const schedule::ProgramStep& step : nests.steps) {
    const auto* scheduled = std::get_if<schedule::ScheduledNest>(&step);
    if (!scheduled) continue;
    for (const auto& [name, tensor] : scheduled->nest.tensors) read.insert(name);
  }
  for (const std::string& operand : nests.operands) {
    if (!read.contains(operand)) nests.unread[operand] = program.tensors.at(operand);
  }
  return nests;
}

}  // namespace

std::vector<schedule::StatementNames> statement_names(const plan::UniqueProgram& program) {
  const auto& statements = program.program.statements;
  std::vector<schedule::StatementNames> names;
  for (size_t s = 0; s < statements.size(); ++s) {
    names.push_back(schedule::names_of_statement(statements[s], program.renamed[s]));
    const bool is_first = std::any_of(statements.begin(), statements.end(), [&](const auto& other) {
      return other.adds_to == statements[s].tensor;
    });
    if (is_first) names[s].part = schedule::part_name(statements[s].tensor, 0);
    if (!statements[s].adds_to.empty()) names[s].part = statements[s].tensor;
  }
  return names;
}

std::vector<schedule::Schedule> statement_schedules(const plan::UniqueProgram& program,
                                                    std::string_view schedule) {
  return schedule::distribute(schedule::parse_schedule(schedule), statement_names(program));
}

namespace {

plan::Request plan_request(const CompileRequest& request) {
  plan::Request wanted = request.plan;
  wanted.schedules = request.tuned.empty()
                         ? statement_schedules(*request.plan.program, request.schedule)
                         : request.tuned;
  return wanted;
}

}  // namespace

plan::Plan plan_program(const CompileRequest& request) {
  return plan::make_plan(plan_request(request));
}

std::vector<plan::ScheduleSpace> schedule_spaces(const CompileRequest& request, plan::Spaces spaces,
                                                 const std::set<std::string>& tensors) {
  plan::Request wanted = plan_request(request);
  wanted.spaces = spaces;
  wanted.spaces_of = tensors;
  return plan::make_plan(wanted).spaces;
}

namespace {

LoweredProgram lower_scheduled(const schedule::NestProgram& scheduled,
                               const lower::Options& options, const StageSink& sink) {
  LoweredProgram lowered;
  loop::HostProgram& program = lowered.program;
  program.name = "program";
  add_parameters(scheduled, program);
  for (const auto& [index, same] : scheduled.same_extents) {
    program.steps.push_back(
        loop::LetStep{lower::extent_name(index), loop::Var::make(lower::extent_name(same))});
  }
  lower_steps(scheduled, options, program);
  for (const std::string& result : scheduled.results)
    lowered.results.push_back(add_result(result, scheduled, program));
  lower::free_temporaries(program);
  show(sink, "lower", [&] { return loop::to_string(program); });
  return lowered;
}

}  // namespace

LoweredProgram lower_program(const CompileRequest& request, const StageSink& sink) {
  StageTimes times;
  const plan::Plan plan = plan_program(request);
  times.end("plan");
  TULLE_LOG(Debug, "plan of ", title(request), "\n", text_of(plan));
  show(sink, "plan", [&] { return text_of(plan); });

  const lower::Options options{request.plan.machine.backend, request.limits.chunks,
                               request.limits.bodies};
  LoweredProgram lowered = lower_scheduled(
      finished(nests_of(request, plan), options.backend, order_requirement(request), sink), options,
      sink);
  lowered.cost = plan.cost;
  times.end("lower");
  TULLE_LOG(Info, "planned ", title(request), ": ", times.text(), " ms");
  return lowered;
}

LoweredProgram lower_nests(const schedule::NestProgram& nests, const lower::Options& options,
                           const StageSink& sink) {
  return lower_scheduled(finished(nests, options.backend, std::nullopt, sink), options, sink);
}

CodeRequest code_request(const CompileRequest& request) {
  CodeRequest code;
  code.target = request.target;
  code.masked_vectors = request.plan.machine.vector_bytes > 16;
  code.checked = request.checked;
  code.verify_passes = request.verify_passes;
  code.host_threads = request.host_threads;
  code.device = request.device;
  code.gpu_threads = request.plan.machine.threads;
  for (const auto& [operand, statistics] : request.plan.statistics)
    code.operand_values += statistics.count;
  return code;
}

Executable compile(const CompileRequest& request, const StageSink& sink) {
  const NoFork no_fork;
  StageTimes times;
  CodeRequest code = code_request(request);
  code.program_key = program_key(request);
  code.title = title(request);
  std::optional<Executable> executable;
  if (!sink) executable = make_known_ready(code, request.plan.program->program.results.size());
  if (!executable) executable = make_ready(lower_program(request, sink), code, sink);
  times.end("all");
  TULLE_LOG(Debug, "made ready: ", times.text(), " ms");
  return std::move(*executable);
}

}  // namespace tulle
