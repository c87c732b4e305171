// Functions expanded for a GPU and interpreted, compared with the C library in double precision,
// and their exact values.
#include <bit>
#include <cmath>
#include <limits>

#include "fixture.h"
#include "support/check.h"

namespace tulle::passes {
namespace {

constexpr double kMostUlps = 2;
constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

std::string kernel_of(const std::string& function) {
  return concat(
      "kernel each(x: f32*, y: mut f32*; n: i64) {\n"
      "  block for b in [0, n / 128) {\n"
      "    thread for t in [0, 128) {\n"
      "      y[b * 128 + t] = ",
      function, "(x[b * 128 + t])\n    }\n  }\n}");
}

// The function after all passes for a GPU. Zeros pad the last block.
std::vector<float> run_on_gpu(const std::string& function, std::vector<float> x) {
  const size_t count = x.size();
  x.resize((count + 127) / 128 * 128);
  const PipelineResult made =
      run_passes(program_of(kernel_of(function)), {.backend = Backend::Gpu, .verify = true});
  const auto size = static_cast<int64_t>(x.size());
  const loop::Arrays after =
      loop::interpret(made.program,
                      {{"x", loop::to_array(DType::Float32, x)},
                       {"y", loop::to_array(DType::Float32, std::vector<float>(x.size()))}},
                      {{"n", size}});
  std::vector<float> y = loop::to_vector<float>(after.at("y"));
  y.resize(count);
  return y;
}

// In ulp of a float; for subnormal numbers, in ulp of the subnormal.
double ulps(float found, double exact) {
  if (std::isnan(exact)) return std::isnan(found) ? 0 : kInfinity;
  const auto rounded = static_cast<float>(exact);
  if (std::isinf(rounded) || std::isinf(found)) return found == rounded ? 0 : kInfinity;
  const float size = std::fmax(std::fabs(rounded), std::numeric_limits<float>::min());
  return std::fabs(found - exact) / std::ldexp(1.0, std::ilogb(size) - 23);
}

void expect_close(const std::string& function, double (*exact)(double),
                  const std::vector<float>& x) {
  const std::vector<float> y = run_on_gpu(function, x);
  for (size_t n = 0; n < x.size(); ++n) {
    ASSERT_LE(ulps(y[n], exact(x[n])), kMostUlps)
        << function << "(" << x[n] << ") is " << y[n] << ", not " << exact(x[n]);
  }
}

// Bit patterns from the whole type, including infinities and NaN.
std::vector<float> sample_of_all() {
  std::vector<float> x;
  for (uint64_t bits = 0; bits < uint64_t{1} << 32; bits += 30011)
    x.push_back(std::bit_cast<float>(static_cast<uint32_t>(bits)));
  return x;
}

std::vector<float> between(double begin, double end, int count) {
  std::vector<float> x;
  for (int n = 0; n <= count; ++n)
    x.push_back(static_cast<float>(begin + (end - begin) * n / count));
  return x;
}

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

TEST(ExpandFunctionsForGpu, ExpIsClose) {
  const auto exact = [](double x) { return std::exp(x); };
  expect_close("exp", exact, sample_of_all());
  expect_close("exp", exact, between(-1, 1, 20000));
  expect_close("exp", exact, between(-105, -86, 40000));  // subnormal results
  expect_close("exp", exact, between(88, 89, 20000));     // up to the largest number and above
  std::vector<float> last;
  const auto end = std::bit_cast<uint32_t>(88.7229f);
  for (auto bits = std::bit_cast<uint32_t>(88.7228f); bits < end; ++bits)
    last.push_back(std::bit_cast<float>(bits));
  expect_close("exp", exact, last);
}

TEST(ExpandFunctionsForGpu, ExpOfSpecialNumbersIsExact) {
  const std::vector<float> y = run_on_gpu(
      "exp", {0.0f, -0.0f, kInfinity, -kInfinity, 3.4e38f, -3.4e38f, 1e-45f, -1e-45f, kNan});
  const std::vector<float> expected = {1, 1, kInfinity, 0, kInfinity, 0, 1, 1};
  for (size_t n = 0; n < expected.size(); ++n) EXPECT_EQ(y[n], expected[n]) << n;
  EXPECT_FALSE(std::signbit(y[3]));
  EXPECT_TRUE(std::isnan(y.back()));
}

// The weights of terms relative to the largest one.
TEST(ExpandFunctionsForGpu, DecayIsRightToTheLastPlaceOfOne) {
  std::vector<float> x = between(-30, 0, 60000);
  for (const float far : {-0.0f, -87.5f, -104.0f, -1e30f, -kInfinity}) x.push_back(far);
  const std::vector<float> y = run_on_gpu("decay", x);
  for (size_t n = 0; n < x.size(); ++n) {
    const double exact = std::exp(static_cast<double>(x[n]));
    ASSERT_LE(std::fabs(y[n] - exact), std::ldexp(1.0, -24)) << "decay(" << x[n] << ")";
    ASSERT_LE(std::fabs(y[n] - exact), exact * 4e-6 + 1e-38) << "decay(" << x[n] << ")";
  }
  EXPECT_TRUE(std::isnan(run_on_gpu("decay", {kNan})[0]));
  const std::string wide = "kernel each(x: f64*, y: mut f64*) { y[0] = decay(x[0]) }";
  EXPECT_FALSE(transform("expand_functions", wide, true, Backend::Gpu).has("exp2("));
}

TEST(ExpandFunctionsForGpu, OthersAreClose) {
  const std::vector<float> all = sample_of_all();
  expect_close("tanh", [](double x) { return std::tanh(x); }, all);
  expect_close("tanh", [](double x) { return std::tanh(x); }, between(-10, 10, 20000));
  expect_close("erf", [](double x) { return std::erf(x); }, all);
  expect_close("erf", [](double x) { return std::erf(x); }, between(-5, 5, 20000));
  expect_close("sigmoid", sigmoid, all);
  expect_close("expm1", [](double x) { return std::expm1(x); }, all);
  expect_close("cosh", [](double x) { return std::cosh(x); }, all);
  expect_close("sinh", [](double x) { return std::sinh(x); }, all);
}

TEST(ExpandFunctionsForGpu, OnlyFloat32OnAGpuTakesExp2) {
  const std::string kernel = "kernel each(x: f32*, y: mut f32*) { y[0] = exp(x[0]) }";
  EXPECT_TRUE(transform("expand_functions", kernel, true, Backend::Gpu).has("exp2("));
  EXPECT_FALSE(transform("expand_functions", kernel).has("exp2("));
  const std::string wide = "kernel each(x: f64*, y: mut f64*) { y[0] = exp(x[0]) }";
  EXPECT_FALSE(transform("expand_functions", wide, true, Backend::Gpu).has("exp2("));
  const std::string lanes =
      "kernel each(x: f32*, y: mut f32*) { y[ramp(0, 1, 4)] = exp(x[ramp(0, 1, 4)]) }";
  EXPECT_TRUE(transform("expand_functions", lanes, true, Backend::Gpu).has("exp2("));
  expect_same_results(
      {"expand_functions"}, lanes,
      {{"x", loop::to_array<float>(DType::Float32, {-2, 0.5f, 1, 3})}, {"y", floats(4)}}, {}, 1e-6,
      true, Backend::Gpu);
}

}  // namespace
}  // namespace tulle::passes
