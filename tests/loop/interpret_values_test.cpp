// Arithmetic of the interpreter: rounding, wrapping, NaN, casts, vectors.
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "loop/interpret.h"
#include "loop/parse.h"
#include "support/check.h"

namespace tulle::loop {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// The value of an expression over the scalars n (i64), m (i32), s (f32) and d (f64).
template <typename T>
T evaluate(const std::string& type, const std::string& expr, const Scalars& given = {}) {
  const std::string text = concat("host h(; n: i64, m: i32, s: f32, d: f64) -> (R) { R = alloc ",
                                  type, "[1] launch k }\nkernel k(R: mut ", type,
                                  "*; n: i64, m: i32, s: f32, d: f64) { R[0] = ", expr, " }");
  Scalars scalars{{"n", 7}, {"m", 5}, {"s", 0.5}, {"d", 0.25}};
  for (const auto& [name, value] : given) scalars[name] = value;
  const Array result = interpret(parse_host_program(text), {}, scalars).at("R");
  T value;
  std::memcpy(&value, result.bytes.data(), sizeof(T));
  return value;
}

TEST(InterpretValues, SinglePrecisionRoundsAfterEveryOperation) {
  EXPECT_EQ(evaluate<float>("f32", "s + 1.0f - 1.0f", {{"s", 1e-9}}), 0.0f);
  EXPECT_EQ(evaluate<float>("f32", "0.1f + 0.2f"), 0.1f + 0.2f);
  EXPECT_EQ(evaluate<double>("f64", "0.1 + 0.2"), 0.1 + 0.2);
  EXPECT_EQ(evaluate<float>("f32", "s", {{"s", 0.1}}), 0.1f);
}

TEST(InterpretValues, FmaIsFused) {
  const float a = 1.0f + 0x1p-12f;
  EXPECT_EQ(evaluate<float>("f32", "fma(s, s, -1.0f)", {{"s", a}}), std::fma(a, a, -1.0f));
  EXPECT_NE(evaluate<float>("f32", "fma(s, s, -1.0f)", {{"s", a}}),
            evaluate<float>("f32", "s * s - 1.0f", {{"s", a}}));
}

TEST(InterpretValues, PowersOfTwo) {
  EXPECT_EQ(evaluate<float>("f32", "exp2(s)", {{"s", 0.5}}), std::exp2(0.5f));
  EXPECT_EQ(evaluate<float>("f32", "exp2(s)", {{"s", -3}}), 0.125f);
  EXPECT_EQ(evaluate<float>("f32", "exp2(s)", {{"s", 200}}),
            std::numeric_limits<float>::infinity());
  EXPECT_EQ(evaluate<float>("f32", "exp2(s)", {{"s", -200}}), 0.0f);
  EXPECT_TRUE(std::isnan(evaluate<float>("f32", "exp2(s)", {{"s", kNan}})));
}

TEST(InterpretValues, IntegersWrap) {
  EXPECT_EQ(evaluate<int32_t>("i32", "m + 1:i32", {{"m", std::numeric_limits<int32_t>::max()}}),
            std::numeric_limits<int32_t>::min());
  EXPECT_EQ(evaluate<int64_t>("i64", "n * 2", {{"n", std::numeric_limits<int64_t>::max()}}), -2);
  EXPECT_EQ(evaluate<int32_t>("i32", "neg(m)", {{"m", std::numeric_limits<int32_t>::min()}}),
            std::numeric_limits<int32_t>::min());
}

TEST(InterpretValues, DivisionTruncates) {
  EXPECT_EQ(evaluate<int64_t>("i64", "n / 2", {{"n", -7}}), -3);
  EXPECT_EQ(evaluate<int64_t>("i64", "n % 2", {{"n", -7}}), -1);
  EXPECT_EQ(evaluate<int64_t>("i64", "3 / (n - 7)"), 0);
  EXPECT_EQ(evaluate<int64_t>("i64", "3 % (n - 7)"), 0);
  EXPECT_EQ(evaluate<int32_t>("i32", "m / -1:i32", {{"m", std::numeric_limits<int32_t>::min()}}),
            std::numeric_limits<int32_t>::min());
}

TEST(InterpretValues, MinAndMaxHandOnNan) {
  EXPECT_TRUE(std::isnan(evaluate<float>("f32", "min(s, 1.0f)", {{"s", kNan}})));
  EXPECT_TRUE(std::isnan(evaluate<float>("f32", "max(1.0f, s)", {{"s", kNan}})));
  EXPECT_TRUE(std::signbit(evaluate<float>("f32", "min(s - s, -0.0f)")));
  EXPECT_FALSE(std::signbit(evaluate<float>("f32", "max(-0.0f, s - s)")));
}

TEST(InterpretValues, Casts) {
  EXPECT_EQ(evaluate<int64_t>("i64", "i64(d)", {{"d", -2.75}}), -2);
  EXPECT_EQ(evaluate<int32_t>("i32", "i32(n)", {{"n", (int64_t{1} << 32) + 3}}), 3);
  EXPECT_EQ(evaluate<float>("f32", "f32(n)", {{"n", (int64_t{1} << 24) + 1}}), 0x1p24f);
  EXPECT_EQ(evaluate<uint8_t>("bool", "bool(d)"), 1);
  EXPECT_EQ(evaluate<int64_t>("i64", "i64(n < 8)"), 1);
}

TEST(InterpretValues, BitsAndShifts) {
  EXPECT_EQ(evaluate<int64_t>("i64", "(n & 3 | 8) ^ 1"), ((7 & 3) | 8) ^ 1);
  EXPECT_EQ(evaluate<int64_t>("i64", "n << 3 >> 1"), 7 << 3 >> 1);
  EXPECT_EQ(evaluate<int32_t>("i32", "m << 30:i32"), 1 << 30);
  EXPECT_EQ(evaluate<int64_t>("i64", "not(n)"), ~7);
  EXPECT_EQ(evaluate<int64_t>("i64", "n << n * 10"), 7 << (70 - 64));
}

TEST(InterpretValues, BoolsAddAndMultiply) {
  EXPECT_EQ(evaluate<uint8_t>("bool", "(n < 8) + (n < 9)"), 1);
  EXPECT_EQ(evaluate<uint8_t>("bool", "(n < 8) * (n < 7)"), 0);
}

TEST(InterpretValues, Functions) {
  EXPECT_EQ(evaluate<double>("f64", "round(d)", {{"d", 2.5}}), 2.0);
  EXPECT_EQ(evaluate<double>("f64", "floor(neg(d))"), -1.0);
  EXPECT_EQ(evaluate<double>("f64", "sqrt(d)"), 0.5);
  EXPECT_FLOAT_EQ(evaluate<float>("f32", "tanh(s)"), std::tanh(0.5f));
  EXPECT_FLOAT_EQ(evaluate<float>("f32", "erf(s)"), std::erf(0.5f));
}

TEST(InterpretValues, Vectors) {
  EXPECT_EQ(evaluate<int64_t>("i64", "vector_reduce(add, ramp(n, 3, 4))"), 4 * 7 + 3 * 6);
  EXPECT_EQ(evaluate<int64_t>("i64", "vector_reduce(max, ramp(n, -3, 5))"), 7);
  EXPECT_EQ(evaluate<float>("f32", "vector_reduce(mul, broadcast(s, 3))"), 0.125f);
  EXPECT_EQ(
      evaluate<int64_t>("i64",
                        "vector_reduce(add, select(ramp(n, 1, 4) < broadcast(9, 4), ramp(0, 1, 4), "
                        "broadcast(10, 4)))"),
      0 + 1 + 10 + 10);
}

TEST(InterpretValues, Halves) {
  EXPECT_EQ(evaluate<uint16_t>("f16", "0.5:f16"), 0x3800);
  EXPECT_EQ(evaluate<uint16_t>("f16", "f16(s * 0.333333f)"), 0x3155);
  EXPECT_EQ(evaluate<uint16_t>("bf16", "bf16(s * 3.0f)"), 0x3fc0);
  EXPECT_EQ(evaluate<float>("f32", "f32(0.1:bf16)"), 0.10009765625f);
  EXPECT_EQ(evaluate<uint16_t>("f16", "f16(100000.0f)"), 0x7c00);
}

}  // namespace
}  // namespace tulle::loop
