// Each seeded fault of the passes changes a result.
#include "fixture.h"
#include "support/check.h"
#include "support/mutant.h"

namespace tulle::passes {
namespace {

class Mutant : public testing::TestWithParam<const char*> {
 protected:
  ~Mutant() override { set_mutant(""); }
};

constexpr const char* kProgram = R"(
kernel k(A: f32*, y: mut f32*; n: i64) {
  var s: f32 = 1.0f
  t = alloc local f32[8]
  vector(4) for k in [0, 8) {
    t[k] = 0.0f
  }
  for k in [0, 3) {
    t[k] = A[k]
  }
  vector(4) for k in [0, n) {
    if (A[k] > 0.0f) {
      s = s + (A[k] + 1.0f)
    }
    y[k] = A[k] * 2.0f + 1.0f
  }
  unrolled(4) for p in [0, n) {
    y[p] = y[p] - A[p] * A[p]
  }
  for k in [0, 8) {
    y[12] = y[12] + t[k]
  }
  for k in [0, 4) {
    let here: f32 = A[k]
    let next: f32 = A[k + 1]
    y[k] = y[k] + here * next
  }
  y[11] = s
})";

std::vector<float> run() {
  const loop::HostProgram program = run_passes(program_of(kProgram)).program;
  try {
    const auto result =
        loop::interpret(program, {{"A", floats(11)}, {"y", floats(13, 2)}}, {{"n", 11}});
    return loop::to_vector<float>(result.at("y"));
  } catch (const InternalError&) {
    return {};
  }
}

TEST_P(Mutant, IsNoticed) {
  const std::vector<float> expected = run();
  set_mutant(GetParam());
  EXPECT_NE(run(), expected);
}

INSTANTIATE_TEST_SUITE_P(Passes, Mutant,
                         testing::Values("vectorize-missing-tail", "vectorize-ignores-mask",
                                         "vector-reduce-drops-init", "unroll-missing-remainder",
                                         "fma-wrong-operand", "fma-wrong-sign",
                                         "promote-drops-store", "simplify-drops-store",
                                         "carry-never-moves"));

}  // namespace
}  // namespace tulle::passes
