// Types of results: promotion as in torch.
#include "expr/types.h"

#include <gtest/gtest.h>

#include "expr/fixture.h"
#include "tulle/error.h"

namespace tulle::expr {
namespace {

const std::vector<Operand> kOperands = {
    {"b", 1, "bool dense"}, {"c", 1, "bool dense"}, {"i", 1, "i32 dense"}, {"l", 1, "i64 dense"},
    {"h", 1, "f16 dense"},  {"g", 1, "bf16 dense"}, {"f", 1, "f32 dense"}, {"d", 1, "f64 dense"},
    {"s", 0, "f64 dense"},  {"t", 0, "i64 dense"},  {"n", 0, "f64 dense"}, {"m", 0, "i64 dense"}};

struct Case {
  const char* value;
  const char* type;
};

class Types : public testing::TestWithParam<Case> {};

TEST_P(Types, PromoteAsInTorch) {
  const ResolvedProgram program =
      resolved(std::string("r[k] = ") + GetParam().value, kOperands, {.numbers = {"n", "m"}});
  EXPECT_EQ(name_of(program.tensors.at("r").type), GetParam().type);
}

INSTANTIATE_TEST_SUITE_P(
    Rules, Types,
    testing::Values(
        Case{"i[k] + l[k]", "i64"}, Case{"l[k] * f[k]", "f32"}, Case{"f[k] * d[k]", "f64"},
        Case{"h[k] + g[k]", "f32"}, Case{"h[k] + l[k]", "f16"}, Case{"b[k] * c[k]", "bool"},
        Case{"b[k] + c[k]", "bool"}, Case{"b[k] + i[k]", "i32"},
        // Literals are weak.
        Case{"2 * f[k]", "f32"}, Case{"2.5 * d[k]", "f64"}, Case{"2 * i[k]", "i32"},
        Case{"2.5 * i[k]", "f32"}, Case{"2.5 * l[k]", "f32"}, Case{"2 * b[k]", "i64"},
        Case{"2.5 * h[k]", "f16"},
        // Operands given as numbers are weak, too; scalar tensors only count in a higher category.
        Case{"n * f[k]", "f32"}, Case{"n * i[k]", "f32"}, Case{"m * i[k]", "i32"},
        Case{"s * f[k]", "f32"}, Case{"s * i[k]", "f64"}, Case{"t * i[k]", "i32"},
        // Division is true division.
        Case{"i[k] / l[k]", "f32"}, Case{"b[k] / c[k]", "f32"}, Case{"d[k] / i[k]", "f64"},
        Case{"i[k] / 2", "f32"},
        // Functions without integer results give float32.
        Case{"sqrt(l[k])", "f32"}, Case{"tanh(d[k])", "f64"}, Case{"abs(i[k])", "i32"},
        Case{"floor(i[k])", "i32"}, Case{"square(b[k])", "i64"}, Case{"sign(b[k])", "bool"}));

TEST(Types, PromotionIsSymmetric) {
  for (uint8_t a = 0; a <= static_cast<uint8_t>(DType::Float64); ++a) {
    for (uint8_t b = 0; b <= static_cast<uint8_t>(DType::Float64); ++b) {
      EXPECT_EQ(promote_types(DType(a), DType(b)), promote_types(DType(b), DType(a)));
    }
  }
}

TEST(Types, FunctionsOfNumbersAreNumbers) {
  EXPECT_EQ(resolved("r[k] = d[k] * sqrt(2)", kOperands).tensors.at("r").type, DType::Float64);
  const ResolvedProgram program = resolved("r[k] = d[k] * (exp(1) - abs(-2))", kOperands);
  EXPECT_EQ(to_string(program.statements[0].value), "d[k] * 0.7182818284590451");
  EXPECT_EQ(to_string(resolved("r[k] = d[k] / (0 * -1)", kOperands).statements[0].value),
            "d[k] / 0");
  EXPECT_EQ(resolved("r[k] = l[k] * square(3)", kOperands).tensors.at("r").type, DType::Int64);
}

TEST(Types, ResultsOfNumbersAlone) {
  EXPECT_EQ(resolved("r = 2", {}).tensors.at("r").type, DType::Int64);
  EXPECT_EQ(resolved("r = 2.0", {}).tensors.at("r").type, DType::Float32);
}

TEST(Types, NumbersAreFolded) {
  EXPECT_EQ(text_of(resolved("r[k] = (1 + 2 * 3) / 2 * f[k]", kOperands)), "r[k] = 3.5 * f[k]");
}

TEST(Types, NumbersTakeTheTypeOfTheOperation) {
  const ResolvedProgram program = resolved("r[k] = 2 * d[k]", kOperands);
  EXPECT_EQ(program.statements[0].value.as<Binary>()->a.type(), DType::Float64);
}

TEST(Types, NumbersWrapToTheTypeOfTheOperation) {
  EXPECT_EQ(text_of(resolved("r[k] = 4294967299 * i[k]", kOperands)), "r[k] = 3 * i[k]");
}

struct Mistake {
  const char* value;
  const char* message;
};

class TypeError : public testing::TestWithParam<Mistake> {};

TEST_P(TypeError, SaysWhatIsWrong) {
  try {
    resolved(std::string("r[k] = ") + GetParam().value, kOperands);
    FAIL() << "resolved: " << GetParam().value;
  } catch (const UserError& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find(GetParam().message), std::string::npos) << message;
  }
}

INSTANTIATE_TEST_SUITE_P(Mistakes, TypeError,
                         testing::Values(Mistake{"b[k] - c[k]", "'-' is not defined for bool"},
                                         Mistake{"i[k] - c[k]", "'-' is not defined for bool"},
                                         Mistake{"-b[k]", "'neg' is not defined for bool"},
                                         Mistake{"relu(b[k])", "'relu' is not defined for bool"}));

}  // namespace
}  // namespace tulle::expr
