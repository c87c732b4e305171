// The passes together: order, options, and programs through all of them.
#include "passes/pipeline.h"

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

TEST(Pipeline, ShowsTheProgramAfterEveryPass) {
  std::vector<std::string> seen;
  PipelineOptions options{.verify = true};
  options.after_pass = [&](std::string_view pass, const loop::HostProgram&) {
    seen.emplace_back(pass);
  };
  run_passes(program_of(kSpmm), options);
  EXPECT_EQ(seen, (std::vector<std::string>{"expand_functions", "promote_accumulators",
                                            "unroll_loops", "simplify", "contract_fma",
                                            "vectorize_loops", "carry_loads", "simplify"}));
  seen.clear();
  options.checked = true;
  run_passes(program_of(kSpmm), options);
  EXPECT_EQ(seen.back(), "insert_bounds_checks");
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

TEST(Pipeline, NamesThePassesThereAre) {
  try {
    run_pass("inline", program_of(kSpmm));
    FAIL();
  } catch (const UserError& error) {
    EXPECT_STREQ(
        error.what(),
        "no pass is called 'inline'; there are expand_sorts, expand_scans, "
        "expand_sort_calls, expand_functions, hoist_conditions, promote_accumulators, "
        "scatter_sums, unroll_loops, "
        "simplify, contract_fma, vectorize_loops, carry_loads, advance_loads, share_loads, "
        "load_ahead, insert_bounds_checks");
  }
}

}  // namespace
}  // namespace tulle::passes
