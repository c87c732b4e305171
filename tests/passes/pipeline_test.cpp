// The passes together: order, options, and programs through all of them.
#include "passes/pipeline.h"

#include <algorithm>
#include <functional>

#include "fixture.h"
#include "loop/print.h"
#include "support/check.h"

namespace tulle::passes {
namespace {

constexpr const char* kSpmm = R"(
kernel spmm(pos: i64*, crd: i64*, A: f32*, B: f32*, C: mut f32*; m: i64) {
  parallel for i in [0, m) {
    acc = alloc local f32[12]
    vector(8) for k in [0, 12) {
      acc[k] = 0.0f
    }
    unrolled(2) for p in [pos[i], pos[i + 1]) {
      let j: i64 = crd[p]
      let a: f32 = A[p]
      vector(8) for k in [0, 12) {
        acc[k] = acc[k] + a * B[j * 12 + k]
      }
    }
    vector(8) for k in [0, 12) {
      C[i * 12 + k] = acc[k]
    }
  }
})";

loop::Arrays spmm_buffers() {
  return {{"pos", loop::to_array<int64_t>(DType::Int64, {0, 2, 2, 5})},
          {"crd", indices(5, 4)},
          {"A", floats(5)},
          {"B", floats(48, 2)},
          {"C", floats(36, 3)}};
}

// The names of the passes that run on the example with these options, in order.
std::vector<std::string> passes_run(PipelineOptions options) {
  std::vector<std::string> names;
  options.verify = true;
  options.after_pass = [&](std::string_view pass, const loop::HostProgram&) {
    names.emplace_back(pass);
  };
  run_passes(program_of(kSpmm), options);
  return names;
}

std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const UserError& error) {
    return error.what();
  }
  return "no error";
}

std::vector<std::string> optional_passes() {
  std::vector<std::string> names;
  for (const Pass& pass : pass_table()) {
    if (!pass.is_required && std::find(names.begin(), names.end(), pass.name) == names.end())
      names.emplace_back(pass.name);
  }
  return names;
}

using Names = std::vector<std::string>;

TEST(Pipeline, RunsThePassesOfACpuInOrder) {
  EXPECT_EQ(passes_run({}),
            (Names{"expand_functions", "promote_accumulators", "chunk_sums", "unroll_loops",
                   "simplify", "contract_fma", "vectorize_loops", "carry_loads", "simplify"}));
}

TEST(Pipeline, RunsThePassesOfAGpuInOrder) {
  EXPECT_EQ(passes_run({.backend = Backend::Gpu}),
            (Names{"expand_sorts", "expand_scans", "expand_sort_calls", "expand_functions",
                   "hoist_conditions", "promote_accumulators", "chunk_sums", "scatter_sums",
                   "unroll_loops", "simplify", "contract_fma", "vectorize_loops", "carry_loads",
                   "simplify", "advance_loads", "share_loads", "load_ahead"}));
}

TEST(Pipeline, RunsFewerPassesForLightCode) {
  EXPECT_EQ(
      passes_run({.backend = Backend::Gpu, .light = true}),
      (Names{"expand_sorts", "expand_scans", "expand_sort_calls", "expand_functions",
             "hoist_conditions", "promote_accumulators", "chunk_sums", "scatter_sums", "simplify",
             "contract_fma", "vectorize_loops", "carry_loads", "simplify", "advance_loads"}));
}

TEST(Pipeline, InsertsBoundsChecksLastAndInCheckedModeOnly) {
  EXPECT_EQ(passes_run({.checked = true}).back(), "insert_bounds_checks");
  for (const std::string& name : passes_run({})) EXPECT_NE(name, "insert_bounds_checks");
}

TEST(Pipeline, LeavesOutDisabledPasses) {
  EXPECT_EQ(passes_run({.disabled = {"simplify", "unroll_loops"}}),
            (Names{"expand_functions", "promote_accumulators", "chunk_sums", "contract_fma",
                   "vectorize_loops", "carry_loads"}));
}

TEST(Pipeline, KeepsResultsWithoutAnyOptionalPass) {
  const loop::HostProgram before = program_of(kSpmm);
  const auto expected = loop::interpret(before, spmm_buffers(), {{"m", 3}});
  for (const Backend backend : {Backend::Cpu, Backend::Gpu}) {
    const PipelineOptions options{
        .backend = backend, .verify = true, .disabled = optional_passes()};
    const auto actual =
        loop::interpret(run_passes(before, options).program, spmm_buffers(), {{"m", 3}});
    EXPECT_EQ(loop::to_vector<float>(expected.at("C")), loop::to_vector<float>(actual.at("C")));
  }
}

TEST(Pipeline, RefusesToDisableARequiredPass) {
  const std::string message =
      "later stages need the pass 'expand_functions'; the passes that can be disabled are "
      "hoist_conditions, promote_accumulators, chunk_sums, scatter_sums, unroll_loops, simplify, "
      "contract_fma, "
      "vectorize_loops, carry_loads, advance_loads, share_loads, load_ahead";
  EXPECT_EQ(message_of([] { passes_run({.disabled = {"expand_functions"}}); }), message);
  EXPECT_EQ(message_of([] { parse_disabled_passes("-simplify,-expand_functions"); }), message);
}

TEST(Pipeline, RefusesToDisableAnUnknownPass) {
  const auto message = [](const char* text) {
    return message_of([&] { parse_disabled_passes(text); });
  };
  EXPECT_TRUE(message("-inline").starts_with(
      "no pass is called 'inline'; the passes that can be disabled are hoist_conditions, "));
  EXPECT_EQ(message("simplify"),
            "expected '-' and the name of a pass to disable, found 'simplify'");
  EXPECT_EQ(message("-simplify,,"), "expected '-' and the name of a pass to disable, found ''");
}

TEST(Pipeline, ParsesDisabledPassesIntoSortedNames) {
  EXPECT_EQ(parse_disabled_passes(""), Names{});
  EXPECT_EQ(parse_disabled_passes("-unroll_loops"), Names{"unroll_loops"});
  EXPECT_EQ(parse_disabled_passes("-unroll_loops,-carry_loads,-unroll_loops"),
            (Names{"carry_loads", "unroll_loops"}));
}

TEST(Pipeline, TimesEveryPassByName) {
  const PipelineOptions timed{.timed = true};
  const std::string text = run_passes(program_of(kSpmm), timed).times.text();
  EXPECT_TRUE(text.starts_with("expand_functions ")) << text;
  EXPECT_NE(text.find(", unroll_loops "), std::string::npos) << text;
  EXPECT_EQ(text.find("simplify "), text.rfind("simplify ")) << text;
  EXPECT_EQ(run_passes(program_of(kSpmm)).times.text(), "");
}

TEST(Pipeline, LightCodeHasItsLoops) {
  const std::string text = loop::to_string(run_passes(program_of(kSpmm), {.light = true}).program);
  EXPECT_NE(text.find("unrolled(2) for p"), std::string::npos) << text;
  EXPECT_NE(text.find("fma("), std::string::npos) << text;
}

TEST(Pipeline, KeepsResults) {
  for (const auto& [masks, light] : {std::pair(true, false), {false, false}, {true, true}}) {
    const loop::HostProgram before = program_of(kSpmm);
    const PipelineResult after =
        run_passes(before, {.masks = masks, .light = light, .verify = true});
    EXPECT_TRUE(after.remarks.empty());
    const auto expected = loop::interpret(before, spmm_buffers(), {{"m", 3}});
    const auto actual = loop::interpret(after.program, spmm_buffers(), {{"m", 3}});
    EXPECT_EQ(loop::to_vector<float>(expected.at("C")), loop::to_vector<float>(actual.at("C")));
  }
}

TEST(Pipeline, ListsAllPassesWhenANameIsUnknown) {
  EXPECT_EQ(message_of([] { run_pass("inline", program_of(kSpmm)); }),
            "no pass is called 'inline'; the passes are expand_sorts, expand_scans, "
            "expand_sort_calls, expand_functions, hoist_conditions, promote_accumulators, "
            "chunk_sums, scatter_sums, unroll_loops, simplify, contract_fma, vectorize_loops, "
            "carry_loads, advance_loads, share_loads, load_ahead, insert_bounds_checks");
}

}  // namespace
}  // namespace tulle::passes
