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

// A program with all inputs of its compilation.
struct CompileRequest {
  plan::Request plan;                           // plan_program sets its schedules
  std::vector<std::string> operands;            // in the order of the host program's parameters
  std::string schedule;                         // the caller's text; other statements are planned
  std::vector<schedule::Schedule> tuned;        // per statement, if the caller wrote no schedule
  std::optional<jit::ContentHash> source = {};  // hash of the caller's text (program_key.h)
  CompileLimits limits = {};
  codegen::Target target;
  int device = 0;              // the GPU's number
  int host_threads = 1;        // threads for generating code
  bool checked = false;        // bounds checks before every access
  bool verify_passes = false;  // verify the program after every pass
};

// The statements on one line, for the log.
std::string title(const CompileRequest& request);

// The names in the statements of a program that schedule steps can use.
std::vector<schedule::StatementNames> statement_names(const plan::UniqueProgram& program);
// The caller's schedule for each statement. Throws a UserError if a step is wrong or applies to no
// statement.
std::vector<schedule::Schedule> statement_schedules(const plan::UniqueProgram& program,
                                                    std::string_view schedule);

// plan: the plan of the request's program.
plan::Plan plan_program(const CompileRequest& request);

// plan: the planned schedules of the request's statements with their estimates, or the schedules
// that a search can try for statements that assign these tensors.
std::vector<plan::ScheduleSpace> schedule_spaces(const CompileRequest& request, plan::Spaces spaces,
                                                 const std::set<std::string>& tensors = {});

// plan, schedule, lower: the host program before passes.
LoweredProgram lower_program(const CompileRequest& request, const StageSink& sink = {});

// schedule and lower: from the nests of a plan or a text to the host program.
LoweredProgram lower_nests(const schedule::NestProgram& nests, const lower::Options& options,
                           const StageSink& sink = {});

// The part of the request that the stages after lowering read. It does not name the program.
CodeRequest code_request(const CompileRequest& request);

// All stages.
Executable compile(const CompileRequest& request, const StageSink& sink = {});

}  // namespace tulle
