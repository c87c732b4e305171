// Parsing the text of each stage gives the same output as the stage itself.
#include <memory>
#include <sstream>

#include <gtest/gtest.h>

#include "differential/bound_schedules.h"
#include "differential/prepared.h"
#include "differential/random_case.h"
#include "loop/gpu.h"
#include "loop/outline.h"
#include "loop/parse.h"
#include "loop/print.h"
#include "runtime/prepare.h"
#include "support/check.h"

namespace tulle::differential {
namespace {

constexpr uint64_t kPrograms = 400;

using Texts = std::map<std::string, std::string>;

StageSink into(Texts& texts) {
  return [&](std::string_view stage, const std::string& text) { texts[std::string(stage)] = text; };
}

// Prints the first line that differs.
void expect_same(const std::string& found, const std::string& wanted, std::string_view what) {
  if (found == wanted) return;
  std::istringstream found_lines(found), wanted_lines(wanted);
  std::string found_line, wanted_line;
  while (std::getline(wanted_lines, wanted_line)) {
    if (!std::getline(found_lines, found_line)) found_line = "nothing more";
    if (found_line != wanted_line) break;
  }
  EXPECT_EQ(found_line, wanted_line) << what;
  ADD_FAILURE() << what << " differs";
}

// The texts of all stages up to the loop IR after passes.
Texts stages_of(const CompileRequest& request) {
  Texts texts;
  optimise_program(lower_program(request, into(texts)).program, code_request(request), into(texts));
  return texts;
}

// A plan that follows the decisions in the text equals the original plan.
void expect_same_plan(const CompileRequest& request, const Texts& texts) {
  CompileRequest decided = request;
  decided.schedule.clear();
  decided.plan.decisions = plan::parse_decisions(texts.at("plan"));
  decided.plan.machine.threads = 1;  // without decisions, another plan would be chosen
  Texts again;
  lower_program(decided, into(again));
  const auto without_costs = [](std::string text) {
    for (size_t at = 0; (at = text.find("; estimated cost", at)) != std::string::npos;)
      text.erase(at, text.find('\n', at) - at);
    return text;
  };
  expect_same(without_costs(again.at("plan")), without_costs(texts.at("plan")), "plan");
  for (const char* stage : {"nest", "schedule", "lower"})
    expect_same(again[stage], texts.at(stage), concat(stage, " from the plan"));
}

// Removes the remarks of rewrites, which finished nests do not repeat.
std::string without_remarks(const std::string& text) {
  const size_t at = text.find("\n// ");
  return at == std::string::npos ? text : text.substr(0, at + 1);
}

// Compares nests before and after their schedules.
void expect_same_nests(const CompileRequest& request, const Texts& texts) {
  for (const char* stage : {"nest", "schedule"}) {
    const schedule::NestProgram nests = schedule::parse_program(texts.at(stage));
    expect_same(schedule::to_string(nests), without_remarks(texts.at(stage)), stage);
    Texts again;
    lower_nests(nests, {request.plan.machine.backend, request.limits.chunks, request.limits.bodies},
                into(again));
    expect_same(without_remarks(again["schedule"]), without_remarks(texts.at("schedule")),
                concat("schedule from ", stage));
    expect_same(again["lower"], texts.at("lower"), concat("lower from ", stage));
  }
}

void expect_same_loops(const CompileRequest& request, const Texts& texts) {
  loop::HostProgram program = loop::parse_host_program(texts.at("lower"));
  expect_same(loop::to_string(program), texts.at("lower"), "lower");
  Texts again;
  program = optimise_program(std::move(program), code_request(request), into(again));
  expect_same(again["passes"], texts.at("passes"), "passes from lower");
  const std::string text = loop::to_string(program);
  expect_same(loop::to_string(loop::parse_host_program(text)), text, "passes");
}

// The outline of a program, parsed from its text, has the launches of the program.
void expect_same_launches(const std::string& text) {
  const loop::HostProgram whole = loop::parse_host_program(text);
  loop::HostProgram outlined = whole;
  for (loop::Kernel& kernel : outlined.kernels) kernel = loop::outline(kernel);
  const std::string outlines = loop::to_string(outlined);
  outlined = loop::parse_host_program(outlines);
  expect_same(loop::to_string(outlined), outlines, "outline");
  for (size_t k = 0; k < whole.kernels.size(); ++k) {
    const loop::Stmt &kernel = whole.kernels[k].body, &outline = outlined.kernels[k].body;
    EXPECT_EQ(loop::launched_threads(outline), loop::launched_threads(kernel));
    EXPECT_EQ(loop::shared_bytes(outline), loop::shared_bytes(kernel));
  }
  const auto launches = [](const loop::HostProgram& program) {
    std::vector<runtime::LaunchAction> found;
    for (const runtime::Action& action : runtime::prepare_program(program, {}).actions) {
      if (const auto* launch = std::get_if<runtime::LaunchAction>(&action))
        found.push_back(*launch);
    }
    return found;
  };
  EXPECT_TRUE(launches(outlined) == launches(whole)) << outlines;
}

// Whether the case is legal, so that it was compared.
bool expect_same_stages(const Case& test) {
  std::unique_ptr<const Prepared> ready;
  Texts texts;
  try {
    ready = std::make_unique<const Prepared>(test);
    texts = stages_of(ready->request);
  } catch (const UserError&) {
    return false;
  } catch (const Unsupported&) {
    return false;
  }
  expect_same_plan(ready->request, texts);
  expect_same_nests(ready->request, texts);
  expect_same_loops(ready->request, texts);
  for (const char* stage : {"lower", "passes"}) expect_same_launches(texts.at(stage));
  return true;
}

TEST(StageTexts, AreReadBack) {
  uint64_t read = 0;
  for (uint64_t seed = 0; seed < kPrograms; ++seed) {
    const Case test = random_case(seed);
    SCOPED_TRACE(concat("seed ", seed, "\n", to_string(test)));
    if (expect_same_stages(test)) ++read;
  }
  EXPECT_GT(read, kPrograms / 2);
}

TEST(StageTexts, SoAreOutlinesOfSchedulesForGpus) {
  for (const Bound& bound : bound_schedules()) {
    SCOPED_TRACE(bound.name);
    const Prepared ready(bound_case(bound, 1));
    for (const auto& [stage, text] : stages_of(ready.request)) {
      if (stage == "lower" || stage == "passes") expect_same_launches(text);
    }
  }
}

}  // namespace
}  // namespace tulle::differential
