// Writes the summary of a plan.
#include "driver/plan_summary.h"

#include <algorithm>
#include <cstdio>

#include "lower/programs/result_info.h"
#include "schedule/queries.h"
#include "support/joined.h"

namespace tulle {

namespace {

using Balance = nest::LoopTag::Balance;

constexpr size_t kMostStatements = 3;  // that the summary quotes
constexpr size_t kMostNests = 4;       // with a line of their own; ten in all

std::string line(std::string_view label, const std::string& text) {
  std::string padded(label);
  padded.resize(std::max<size_t>(padded.size() + 1, 13), ' ');
  return concat(padded, text, "\n");
}

// A number with three digits and the unit that fits it.
std::string with_unit(double value, const std::vector<const char*>& units, double step) {
  size_t unit = 0;
  while (value >= step && unit + 1 < units.size()) {
    value /= step;
    ++unit;
  }
  char text[32];
  std::snprintf(text, sizeof text, "%.3g ", value);
  return text + std::string(units[unit]);
}

std::string bytes_text(double bytes) { return with_unit(bytes, {"B", "kB", "MB", "GB"}, 1000); }
std::string time_text(double seconds) { return with_unit(seconds * 1e6, {"us", "ms", "s"}, 1000); }

// The bytes of an operand's values and coordinates.
double bytes_of(const expr::TensorType& type, int64_t count) {
  int coordinates = 0;
  for (const Level& level : type.format.levels()) coordinates += stores_coordinates(level.kind);
  return static_cast<double>(count) *
         static_cast<double>(size_of(type.type) + coordinates * size_of(type.index_type));
}

std::string statements_text(const CompileRequest& request) {
  std::vector<expr::Statement> statements = request.plan.program->program.statements;
  const size_t count = statements.size();
  statements.resize(std::min(count, kMostStatements));
  std::vector<std::string> lines;
  for (const expr::Statement& one : statements)
    lines.push_back(expr::to_string(expr::ParsedProgram{{one}}));
  for (std::string& text : lines) text.erase(text.find_last_not_of('\n') + 1);
  if (count > kMostStatements) lines.push_back(concat(count - kMostStatements, " more"));
  return joined(lines, "; ");
}

std::string machine_text(const plan::Machine& machine) {
  if (machine.backend == Backend::Gpu)
    return concat("a GPU of ", machine.multiprocessors, " multiprocessors");
  return machine.threads == 1 ? "CPU, 1 thread" : concat("CPU, ", machine.threads, " threads");
}

void add_loops(const nest::Stmt& stmt, std::vector<std::string>& found) {
  if (const auto* forall = stmt.as<nest::Forall>()) {
    if (std::find(found.begin(), found.end(), forall->var) == found.end())
      found.push_back(forall->var);
    add_loops(forall->body, found);
  } else if (const auto* where = stmt.as<nest::Where>()) {
    add_loops(where->producer, found);
    add_loops(where->consumer, found);
  } else if (const auto* sequence = stmt.as<nest::Sequence>()) {
    for (const nest::Stmt& one : sequence->stmts) add_loops(one, found);
  }
}

// The loops in the order in which they run: those that fill a workspace before those that read it.
std::vector<std::string> loops_of(const nest::Nest& nest) {
  std::vector<std::string> found;
  add_loops(nest.root, found);
  return found;
}

// How threads share the nest, or why one thread runs it.
std::string threads_text(const schedule::ScheduledNest& step, const plan::Machine& machine) {
  std::vector<std::string> bound;
  for (const schedule::Step& one : step.schedule.steps) {
    if (const auto* parallel = std::get_if<schedule::Parallel>(&one.rewrite)) {
      const bool by_rows = parallel->balance.value_or(Balance::Rows) == Balance::Rows;
      return concat("threads share ", parallel->loop, by_rows ? " by rows" : " by entries");
    }
    if (const auto* bind = std::get_if<schedule::Bind>(&one.rewrite)) bound.push_back(bind->loop);
  }
  if (!bound.empty()) return concat("threads of the GPU run ", joined(bound, " "));
  if (machine.backend == Backend::Cpu && machine.threads == 1) return "one thread, as requested";
  const std::vector<std::string> loops = loops_of(step.nest);
  const auto& kept = lower::find_result(step.nest).indices;
  if (loops.empty()) return "one thread, no loop";
  if (std::find(kept.begin(), kept.end(), loops.front()) == kept.end()) {
    return concat("one thread, because the outer loop ", loops.front(),
                  " sums into the same elements");
  }
  return "one thread";
}

std::string nests_text(const plan::Plan& plan, const plan::Machine& machine) {
  std::string text;
  size_t count = 0;
  for (const schedule::ProgramStep& step : plan.steps) {
    const auto* planned = std::get_if<schedule::ScheduledNest>(&step);
    if (!planned || ++count > kMostNests) continue;
    const std::string result = lower::find_result(planned->nest).name;
    text += line(result, concat("loops ", joined(loops_of(planned->nest), " "), "; ",
                                threads_text(*planned, machine)));
  }
  if (count > kMostNests) text += line("", concat("and ", count - kMostNests, " more nests"));
  return text;
}

// The planner states conversions, sorts and intermediates as comments of the plan.
std::string extra_work_text(const plan::Plan& plan) {
  std::vector<std::string> found;
  for (const std::string& text : plan.lines) {
    if (text.starts_with("# ")) found.push_back(text.substr(2));
  }
  return found.empty() ? "none" : joined(found, "; ");
}

}  // namespace

std::string plan_summary(const CompileRequest& request) {
  const plan::Plan plan = plan_program(request);
  const plan::Machine& machine = request.plan.machine;
  double bytes = 0, seconds = 0;
  for (const auto& [name, statistics] : request.plan.statistics)
    bytes += bytes_of(request.plan.program->program.tensors.at(name), statistics.count);
  for (const plan::ScheduleSpace& space : schedule_spaces(request, plan::Spaces::Planned))
    seconds += space.candidates.front().seconds;
  return concat(line("computes", statements_text(request)), line("on", machine_text(machine)),
                nests_text(plan, machine), line("extra work", extra_work_text(plan)),
                line("operands", concat("about ", bytes_text(bytes))),
                line("estimated", concat("about ", time_text(seconds))));
}

}  // namespace tulle
