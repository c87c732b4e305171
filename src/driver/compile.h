// The driver: takes a program through all stages. Start reading here.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/target.h"
#include "driver/limits.h"
#include "jit/content_hash.h"
#include "kernels/code_request.h"
#include "kernels/executable.h"
#include "plan/plan.h"
#include "schedule/distribute.h"
#include "schedule/program.h"
#include "support/stage_sink.h"

namespace tulle {

// A program with everything that its compilation depends on.
struct CompileRequest {
  plan::Request plan;                           // its schedules are filled in by plan_program
  std::vector<std::string> operands;            // in the order of the host program's parameters
  std::string schedule;                         // the caller's text; other statements are planned
  std::vector<schedule::Schedule> tuned;        // of each statement, if the caller wrote none
  std::optional<jit::ContentHash> source = {};  // hash of the caller's text (program_key.h)
  CompileLimits limits = {};
  codegen::Target target;
  int device = 0;              // the GPU's number
  int host_threads = 1;        // for generating code
  bool checked = false;        // bounds checks before every access
  bool verify_passes = false;  // verify the program after every pass
};

// The statements on one line, for the log.
std::string title(const CompileRequest& request);

// The names that the statements of a program offer to the steps of a schedule.
std::vector<schedule::StatementNames> statement_names(const plan::UniqueProgram& program);
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
LoweredProgram lower_nests(const schedule::NestProgram& nests, const lower::Options& options,
                           const StageSink& sink = {});

// The part of the request that the stages after lowering read. It does not name the program.
CodeRequest code_request(const CompileRequest& request);

// All stages.
Executable compile(const CompileRequest& request, const StageSink& sink = {});

}  // namespace tulle
