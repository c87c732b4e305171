// f16 and bf16: every half widens to its value, and floats narrow to the nearest half, with and
// without hardware instructions.
#include <bit>
#include <cmath>

#include <gtest/gtest.h>

#include "codegen/fixture.h"
#include "loop/parse.h"
#include "support/check.h"
#include "support/half.h"

namespace tulle::codegen {
namespace {

struct Machine {
  const char* preset;
  DType half;
};

class Halves : public testing::TestWithParam<Machine> {
 protected:
  void SetUp() override {
    if (!host_has(GetParam().preset)) GTEST_SKIP() << "this machine has no " << GetParam().preset;
  }
  CompiledKernel compile(const std::string& body) const {
    const std::string half(name_of(GetParam().half));
    return CompiledKernel(loop::parse_kernel(concat("kernel kernel(H: mut ", half,
                                                    "*, F: mut f32*; n: i64) { ", body, " }")),
                          host_target(GetParam().preset));
  }
  std::string narrow(const std::string& value) const {
    return concat(name_of(GetParam().half), "(", value, ")");
  }
  void expect_nearest(const std::vector<float>& floats, const std::vector<uint16_t>& halves) const {
    const DType half = GetParam().half;
    for (size_t at = 0; at < floats.size(); ++at) {
      const double found = tulle::widen_half(half, halves[at]);
      if (std::isnan(floats[at])) {
        EXPECT_TRUE(std::isnan(found));
      } else {
        EXPECT_EQ(halves[at], tulle::narrow_to_half(half, floats[at])) << floats[at];
      }
    }
  }
};

std::string name_of_machine(const testing::TestParamInfo<Machine>& info) {
  std::string name = concat(info.param.preset, "_", name_of(info.param.half));
  std::erase(name, '.');
  return name;
}

INSTANTIATE_TEST_SUITE_P(
    Machines, Halves,
    testing::Values(Machine{"sse4.2", DType::Float16}, Machine{"avx2", DType::Float16},
                    Machine{"avx512", DType::Float16}, Machine{"sse4.2", DType::BFloat16},
                    Machine{"avx2", DType::BFloat16}, Machine{"avx512", DType::BFloat16}),
    name_of_machine);

TEST_P(Halves, Widen) {
  const auto one = compile("for i in [0, n) { F[i] = f32(H[i]) }");
  const auto lanes = compile(
      "for i in [0, n) by 8 { F[ramp(i, 1, 8)] = f32(H[ramp(i, 1, 8) if ramp(i, 1, 8) < "
      "broadcast(n, 8)]) }");
  std::vector<uint16_t> halves(1 << 16);
  for (size_t at = 0; at < halves.size(); ++at) halves[at] = static_cast<uint16_t>(at);
  for (const CompiledKernel* kernel : {&one, &lanes}) {
    std::vector<float> floats(halves.size());
    kernel->run({halves.data(), floats.data()}, {1 << 16});
    for (size_t at = 0; at < halves.size(); ++at) {
      const double wanted = tulle::widen_half(GetParam().half, halves[at]);
      if (std::isnan(wanted)) {
        EXPECT_TRUE(std::isnan(floats[at]));
      } else {
        EXPECT_EQ(floats[at], wanted);
        EXPECT_EQ(std::signbit(floats[at]), std::signbit(wanted));
      }
    }
  }
}

// Floats of every exponent, including values around the midpoint between two halves.
TEST_P(Halves, Narrow) {
  const auto one = compile(concat("for i in [0, n) { H[i] = ", narrow("F[i]"), " }"));
  const auto lanes = compile(
      concat("for i in [0, n) by 16 { H[ramp(i, 1, 16)] = ", narrow("F[ramp(i, 1, 16)]"), " }"));
  std::vector<float> floats;
  for (uint32_t high = 0; high < 1 << 16; ++high) {
    for (const uint32_t low : {0U, 1U, 0x1000U, 0x7fffU, 0x8000U, 0x8001U, 0xefffU, 0xf000U}) {
      floats.push_back(std::bit_cast<float>(high << 16 | low));
    }
  }
  for (const CompiledKernel* kernel : {&one, &lanes}) {
    std::vector<uint16_t> halves(floats.size());
    kernel->run({halves.data(), floats.data()}, {static_cast<int64_t>(floats.size())});
    expect_nearest(floats, halves);
  }
}

TEST_P(Halves, ConstantsAndChoices) {
  const std::string half(name_of(GetParam().half));
  const auto kernel = compile(
      concat("H[0] = 0.1:", half, "  let x: ", half,
             " = H[1]  H[2] = ", "select(n == 3, x, H[0])  H[ramp(4, 1, 4)] = broadcast(x, 4)"));
  std::vector<uint16_t> halves = {0, 7, 0, 0, 0, 0, 0, 0};
  kernel.run({halves.data(), nullptr}, {3});
  const uint16_t tenth = tulle::narrow_to_half(GetParam().half, 0.1);
  EXPECT_EQ(halves, (std::vector<uint16_t>{tenth, 7, 7, 0, 7, 7, 7, 7}));
}

}  // namespace
}  // namespace tulle::codegen
