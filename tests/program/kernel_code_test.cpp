// Keys of generated code.
#include "kernels/kernel_code.h"

#include <gtest/gtest.h>

#include "loop/parse.h"

namespace tulle {
namespace {

const loop::Kernel& kernel() {
  static const loop::Kernel instance =
      loop::parse_kernel("kernel k(y: mut f32*; n: i64) { parallel for i in [0, n) { } }");
  return instance;
}

TEST(KernelCode, HasAKeyOfItsOwnForEverySetOfDisabledPasses) {
  CodeRequest request;
  request.disabled_passes = {};
  const jit::ContentHash all = key_of(kernel(), "lower", request);
  EXPECT_EQ(key_of(kernel(), "lower", request), all);
  request.disabled_passes = {"simplify"};
  const jit::ContentHash without = key_of(kernel(), "lower", request);
  EXPECT_NE(without, all);
  request.disabled_passes = {"simplify", "unroll_loops"};
  EXPECT_NE(key_of(kernel(), "lower", request), all);
  EXPECT_NE(key_of(kernel(), "lower", request), without);
}

TEST(KernelCode, PassesLeaveOutTheDisabledOnes) {
  CodeRequest request;
  request.disabled_passes = {"carry_loads", "simplify"};
  EXPECT_EQ(pass_options(request).disabled, request.disabled_passes);
}

}  // namespace
}  // namespace tulle
