// Scalar expressions of the host: the arithmetic of every type agrees with the loop IR.
#include "runtime/scalar_code.h"

#include <bit>
#include <limits>

#include <gtest/gtest.h>

#include "loop/parse.h"
#include "tulle/error.h"

namespace tulle::runtime {
namespace {

// n = 7 (i64), m = -3 (i32), s = 2.5 (f32), d = -0.5 (f64), c = true, low = the lowest i64
int64_t evaluate(const std::string& type, const std::string& text) {
  const loop::HostProgram program = loop::parse_host_program(
      "host p(; n: i64, m: i32, s: f32, d: f64, c: bool, low: i64) -> () { let x: " + type + " = " +
      text + " }");
  const std::vector<int64_t> slots{7,
                                   -3,
                                   std::bit_cast<int32_t>(2.5F),
                                   std::bit_cast<int64_t>(-0.5),
                                   1,
                                   std::numeric_limits<int64_t>::min()};
  const ScalarCode code(std::get<loop::LetStep>(program.steps[0]).value,
                        [&](const std::string& name) {
                          for (int slot = 0; slot < 6; ++slot) {
                            if (program.scalars[static_cast<size_t>(slot)].name == name)
                              return slot;
                          }
                          return -1;
                        });
  return code.evaluate(slots.data());
}

float evaluate_f32(const std::string& text) {
  return std::bit_cast<float>(static_cast<int32_t>(evaluate("f32", text)));
}
double evaluate_f64(const std::string& text) {
  return std::bit_cast<double>(evaluate("f64", text));
}

TEST(ScalarCode, Integers) {
  EXPECT_EQ(evaluate("i64", "3"), 3);
  EXPECT_EQ(evaluate("i64", "n"), 7);
  EXPECT_EQ(evaluate("i64", "n * 2 + 1 - n / 2 % 2"), 14);
  EXPECT_EQ(evaluate("i64", "min(n, 3) + max(n, 9)"), 12);
  EXPECT_EQ(evaluate("i64", "(n & 5 | 8) ^ 1"), 12);
  EXPECT_EQ(evaluate("i64", "(n << 2) + (low >> 62)"), 26);
  EXPECT_EQ(evaluate("i64", "n / (n - n) + n % (n - n)"), 0);
  EXPECT_EQ(evaluate("i64", "low / (n - 8)"), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(evaluate("i64", "low % (n - 8)"), 0);
  EXPECT_EQ(evaluate("i64", "abs(neg(n)) + select(n > 3, n, low)"), 14);
  EXPECT_EQ(evaluate("i32", "m * m - 10:i32"), -1);
  EXPECT_EQ(evaluate("i32", "m * 1000000000:i32"), 1294967296);
  EXPECT_EQ(evaluate("i64", "i64(m) + i64(c)"), -2);
}

TEST(ScalarCode, Bools) {
  EXPECT_EQ(evaluate("bool", "n < 8 && not(n == 3) || c"), 1);
  EXPECT_EQ(evaluate("bool", "n >= 8 || not(c)"), 0);
  EXPECT_EQ(evaluate("bool", "bool(m) && s != 2.5f"), 0);
}

TEST(ScalarCode, FloatingPoint) {
  EXPECT_EQ(evaluate_f32("s * 2.0f - 1.0f"), 4.0F);
  EXPECT_EQ(evaluate_f64("sqrt(abs(d) * 8.0) / f64(n)"), 2.0 / 7.0);
  EXPECT_EQ(evaluate_f64("f64(s) + floor(d) + ceil(d) + trunc(d) + round(d)"), 1.5);
  EXPECT_EQ(evaluate("i64", "i64(s) + i64(d)"), 2);
  EXPECT_TRUE(evaluate_f32("min(1.0f, nan:f32)") != evaluate_f32("min(1.0f, nan:f32)"));
  EXPECT_TRUE(evaluate_f32("max(nan:f32, s)") != evaluate_f32("max(nan:f32, s)"));
}

TEST(ScalarCode, RefusesLoads) {
  const loop::Expr load =
      loop::Load::make(loop::make_buffer("A", DType::Int64), loop::IntConst::make(0));
  EXPECT_THROW(ScalarCode(load, [](const std::string&) { return 0; }), InternalError);
}

}  // namespace
}  // namespace tulle::runtime
