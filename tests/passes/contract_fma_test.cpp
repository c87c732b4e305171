// Added products become fused multiply-adds.
#include <cmath>

#include "fixture.h"
#include "support/check.h"

namespace tulle::passes {
namespace {

std::string contracted(const std::string& value, const std::string& type = "f32") {
  const std::string text = concat("kernel k(y: mut ", type, "*; a: ", type, ", b: ", type,
                                  ", c: ", type, ", d: ", type, ") {\n  y[0] = ", value, "\n}");
  const std::string after = transform("contract_fma", text).after;
  const size_t begin = after.find("y[0] = ") + 7;
  return after.substr(begin, after.find('\n', begin) - begin);
}

TEST(ContractFma, FindsProductsOnEitherSide) {
  EXPECT_EQ(contracted("a * b + c"), "fma(a, b, c)");
  EXPECT_EQ(contracted("c + a * b"), "fma(a, b, c)");
  EXPECT_EQ(contracted("a * b - c"), "fma(a, b, neg(c))");
  EXPECT_EQ(contracted("c - a * b"), "fma(neg(a), b, c)");
  EXPECT_EQ(contracted("a * b + c * d"), "fma(a, b, c * d)");
  EXPECT_EQ(contracted("d + a * b + c", "f64"), "fma(a, b, d) + c");
  EXPECT_EQ(contracted("a + b"), "a + b");
}

TEST(ContractFma, LeavesIntegersAlone) {
  EXPECT_EQ(contracted("a * b + c", "i64"), "a * b + c");
  EXPECT_EQ(contracted("a * b + c", "i32"), "a * b + c");
}

TEST(ContractFma, RoundsOnce) {
  const std::string text =
      "kernel k(A: f64*, y: mut f64*) { y[0] = A[0] * A[1] - A[2]\n y[1] = A[2] - A[0] * A[1] }";
  const double a = 1.0 / 3, b = 1.0 / 7, c = a * b;
  const loop::HostProgram program = transform("contract_fma", text).program;
  const auto y = loop::to_vector<double>(
      loop::interpret(program,
                      {{"A", loop::to_array<double>(DType::Float64, {a, b, c})},
                       {"y", loop::to_array<double>(DType::Float64, {0, 0})}},
                      {})
          .at("y"));
  EXPECT_EQ(y[0], std::fma(a, b, -c));
  EXPECT_EQ(y[1], std::fma(-a, b, c));
}

}  // namespace
}  // namespace tulle::passes
