// The work of the passes grows in proportion to the depth of nested functions. Counts allocations,
// because times depend on the machine.
#include "count_allocations.h"
#include "fixture.h"
#include "support/check.h"

namespace tulle::passes {
namespace {

// A row of a product of a sparse matrix and f(f(...B)).
std::string kernel_of(const std::string& function, int depth) {
  std::string lets, value = "B_value";
  for (int level = 0; level < depth; ++level) {
    lets += concat("let x", level, ": f32 = ", function, "(", value, ")\n");
    value = concat("x", level);
  }
  return concat(
      "kernel k(crd: i64*, A: f32*, B: f32*, C: mut f32*; m: i64, n: i64) {\n"
      "for p in [0, m) {\nlet j: i64 = crd[p]\nvector(8) for k in [0, n) {\n"
      "let B_value: f32 = B[j * n + k]\n",
      lets, "C[k] = C[k] + A[p] * ", value, "\n}\n}\n}");
}

int64_t work_at(const std::string& function, int depth, Backend backend) {
  loop::HostProgram program = program_of(kernel_of(function, depth));
  const int64_t before = count_allocations();
  const PipelineResult result = run_passes(std::move(program), {.backend = backend});
  return count_allocations() - before;
}

class LinearWork : public testing::TestWithParam<const char*> {};

TEST_P(LinearWork, OfAllPasses) {
  for (const Backend backend : {Backend::Cpu, Backend::Gpu}) {
    const int64_t two = work_at(GetParam(), 2, backend), three = work_at(GetParam(), 3, backend);
    // First a depth at which exponential work still ends.
    ASSERT_LT(three, 2 * two);
    const int64_t four = work_at(GetParam(), 4, backend), eight = work_at(GetParam(), 8, backend);
    EXPECT_LT(eight - four, 2.5 * static_cast<double>(four - two));
  }
}

INSTANTIATE_TEST_SUITE_P(Functions, LinearWork,
                         testing::Values("exp", "log1p", "sigmoid", "tanh", "erf"));

}  // namespace
}  // namespace tulle::passes
