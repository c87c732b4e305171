// Names that are new to a kernel, and the names that it uses.
#include "loop/fresh_names.h"

#include <gtest/gtest.h>

#include "loop/parse.h"
#include "loop/used_names.h"

namespace tulle::loop {
namespace {

const Kernel& kernel() {
  static const Kernel instance = parse_kernel(R"(
kernel k(A: f32*, y: mut f32*; n: i64) {
  t = alloc local f32[4]
  for i in [0, n) {
    let a: f32 = A[i]
    var s: f32 = a
    s = s + t[0]
    let old: f32 = atomic_add(y[i], s)
  }
})");
  return instance;
}

TEST(FreshNames, StartWithoutNamesForANewKernel) {
  FreshNames names;
  EXPECT_EQ(names.fresh("x"), "x");
  EXPECT_EQ(names.fresh("x"), "x_1");
  EXPECT_EQ(names.fresh("x_2"), "x_2");
  EXPECT_EQ(names.fresh("x"), "x_3");
  EXPECT_EQ(names.fresh("x_1"), "x_1_1");
}

TEST(FreshNames, DifferFromAllNamesOfTheKernel) {
  FreshNames names(kernel());
  for (const char* taken : {"A", "y", "n", "t", "i", "a", "s", "old"})
    EXPECT_EQ(names.fresh(taken), std::string(taken) + "2");
  EXPECT_EQ(names.fresh("a"), "a3");
  EXPECT_EQ(names.fresh("a2"), "a22");
  EXPECT_EQ(names.fresh("b"), "b");
  EXPECT_EQ(names.fresh("b"), "b2");
}

TEST(UsedNames, AreTheVariablesAndBuffersOfAKernel) {
  using Names = std::set<std::string>;
  EXPECT_EQ(names_written(kernel().body), (Names{"i", "a", "s", "old"}));
  EXPECT_EQ(names_of(kernel()), (Names{"A", "y", "n", "t", "i", "a", "s", "old"}));
  EXPECT_EQ(read_only_buffers(kernel()), Names{"A"});
  EXPECT_EQ(names_read(Var::make("n") + Var::make("m") * 2), (Names{"n", "m"}));
}

}  // namespace
}  // namespace tulle::loop
