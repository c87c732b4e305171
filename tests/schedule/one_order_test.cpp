// Tests of schedules whose sums use atomics.
#include "schedule/checks/one_order.h"

#include <gtest/gtest.h>

#include "schedule/nests.h"
#include "support/check.h"

namespace tulle::schedule {
namespace {

constexpr std::string_view kBound = "split(i, 4, ib, it); bind(ib, block); bind(it, thread)";

std::string refusal(const NestProgram& program, WantsOneOrder who = WantsOneOrder::Caller) {
  try {
    require_one_order(program, apply(program), who);
    return "";
  } catch (const UserError& error) {
    return error.what();
  }
}

std::string refusal_of(std::string_view nest, std::string_view steps,
                       WantsOneOrder who = WantsOneOrder::Caller) {
  return refusal(program_of(nest::parse_nest(nest), parse_schedule(steps)), who);
}

// Row sums of A in y, and of B onto y or in z.
std::string refusal_of_two(std::string_view type, std::string_view onto) {
  const auto sum = [&](std::string_view result, std::string_view operand, std::string_view more,
                       std::string_view steps) {
    return concat("nest {\n operand ", operand, ": ", type, ", i32, csr\n result ", result, ": ",
                  type, more, ", dense\n forall i { forall j { ", result, "[i] += ", operand,
                  "[i,j] } } }\nschedule: ", kBound, steps, "\n");
  };
  return refusal(
      parse_program(concat("program(A, B; i, j) -> (y", onto.empty() ? ", z" : "", ")\n",
                           sum("y", "A", "", ""), sum("z", "B", onto, "; fuse_launches(y)"))));
}

TEST(OneOrder, RefusesRowsThatChunksShare) {
  for (const std::string step : {"split_rows(i, 64, c, r)", "deal_rows(i, 64, c, r, 132, 32)"}) {
    const std::string why = refusal_of(kSpmm, "unroll(j, 2); " + step + "; bind(c, block)");
    const std::string name = step.substr(0, step.find('('));
    EXPECT_NE(why.find("by " + name + " 'C' is added up by atomics"), std::string::npos) << why;
    EXPECT_NE(why.find("bind whole rows, or leave " + name + " out"), std::string::npos) << why;
    EXPECT_NE(why.find("column 15:"), std::string::npos) << why;
  }
  EXPECT_NE(refusal_of(kSpmm, "split_rows(i, 64, c, r); precompute(acc, k)"), "");
}

TEST(OneOrder, RefusesBlocksThatAddUp) {
  const std::string why = refusal_of(
      "nest { operand X: f32\n result y: f32\n forall i { forall j { y[j] += X[i,j] } } }",
      "unroll(j, 2); bind(i, block, sums=atomics)");
  EXPECT_NE(why.find("by bind 'y' is added up by atomics"), std::string::npos) << why;
  EXPECT_NE(why.find("column 15:"), std::string::npos) << why;
}

TEST(OneOrder, RefusesThreadsOfACpuThatShareRows) {
  const auto refused = [](std::string_view steps) {
    return refusal_of(kSpmm, steps, WantsOneOrder::Cpu);
  };
  const std::string why = refused("split_rows(i, 64, c, r); parallel(c)");
  EXPECT_NE(why.find("a CPU gives the same bits; use parallel(..., by=merge)"), std::string::npos)
      << why;
  EXPECT_EQ(refused("split_rows(i, 64, c, r)"), "");
  EXPECT_EQ(refused("precompute(acc, k); parallel(i, by=merge)"), "");
  EXPECT_EQ(refusal_of(kSddmm, "split_rows(i, 64, c, r); parallel(c)", WantsOneOrder::Cpu), "");
}

TEST(OneOrder, TakesWhatHasOne) {
  EXPECT_EQ(refusal_of(kSpmm, "bind(i, block)"), "");
  EXPECT_EQ(refusal_of(kSpmm, "split_positions(j, 32, jo, ji); reorder(i, ji, jo, k)"), "");
  EXPECT_EQ(refusal_of(kSddmm, "split_rows(i, 64, c, r); bind(c, block)"), "");
  EXPECT_EQ(refusal_of(kSoftmax, "split_rows(i, 64, c, r); bind(c, block)"), "");
}

TEST(OneOrder, TakesIntegers) {
  EXPECT_EQ(refusal_of("nest { operand A: i32, i32, csr\n result y: i32\n"
                       "forall i { forall j { y[i] += A[i,j] } } }",
                       "split_rows(i, 64, c, r); bind(c, block)"),
            "");
}

TEST(OneOrder, RefusesKernelsThatAddToOneResult) {
  const std::string why = refusal_of_two("f32", ", onto y");
  EXPECT_NE(why.find("by fuse_launches 'y' is added up by atomics"), std::string::npos) << why;
  EXPECT_NE(why.find("launch the kernels one after the other"), std::string::npos) << why;
  EXPECT_EQ(refusal_of_two("i64", ", onto y"), "");
  EXPECT_EQ(refusal_of_two("f32", ""), "");
}

}  // namespace
}  // namespace tulle::schedule
