// Compares compiled elementary functions with the C library in a wider type: on a dense sample of
// all float32 (on all of them with TULLE_TEST_FULL=1), and on a sample of float64.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <random>

#include <gtest/gtest.h>

#include "tulle/tulle.h"

namespace tulle::differential {
namespace {

constexpr double kMostUlps = 2;

class Blocks final : public Memory {
 public:
  Block allocate(DType type, int64_t length, bool zeroed) override {
    const auto bytes = static_cast<size_t>(length * size_of(type)) / 64 * 64 + 64;
    blocks_.emplace_back(std::aligned_alloc(64, bytes), &std::free);
    if (zeroed) std::memset(blocks_.back().get(), 0, bytes);
    return {blocks_.back().get(), nullptr};
  }

 private:
  std::vector<std::unique_ptr<void, decltype(&std::free)>> blocks_;
};

struct Named {
  const char* name;
  double (*in_double)(double);
  long double (*in_long_double)(long double);
};

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
long double sigmoid_wide(long double x) { return 1 / (1 + std::exp(-x)); }

const std::vector<Named>& functions() {
  static const std::vector<Named> all = {
      {"exp", [](double x) { return std::exp(x); }, [](long double x) { return std::exp(x); }},
      {"log", [](double x) { return std::log(x); }, [](long double x) { return std::log(x); }},
      {"expm1", [](double x) { return std::expm1(x); },
       [](long double x) { return std::expm1(x); }},
      {"log1p", [](double x) { return std::log1p(x); },
       [](long double x) { return std::log1p(x); }},
      {"tanh", [](double x) { return std::tanh(x); }, [](long double x) { return std::tanh(x); }},
      {"sigmoid", sigmoid, sigmoid_wide},
      {"cosh", [](double x) { return std::cosh(x); }, [](long double x) { return std::cosh(x); }},
      {"sinh", [](double x) { return std::sinh(x); }, [](long double x) { return std::sinh(x); }},
      {"erf", [](double x) { return std::erf(x); }, [](long double x) { return std::erf(x); }},
  };
  return all;
}

// Applies the function to all numbers: most in vectors, the last ones in the tail.
template <typename Number>
class Compiled {
 public:
  Compiled(const Named& function, const std::string& features) {
    const DType type = sizeof(Number) == 4 ? DType::Float32 : DType::Float64;
    TensorSpec spec;
    spec.name = "x";
    spec.type = type;
    spec.format = "dense";
    spec.rank = 1;
    program_ = Program::from_notation(std::string("y[i] = ") + function.name + "(x[i])", {spec},
                                      {.features = features});
  }

  std::vector<Number> operator()(const std::vector<Number>& x) const {
    const auto size = static_cast<int64_t>(x.size());
    Blocks memory;
    const auto results = program_->run({{{size}, {{}}, {x.data(), size}}}, memory);
    const auto* data = static_cast<const Number*>(results[0].values.data);
    return {data, data + size};
  }

 private:
  std::shared_ptr<const Program> program_;
};

// The error of a result in ulp of the type.
template <typename Number, typename Wide>
double ulps(Number found, Wide exact) {
  if (std::isnan(exact)) return std::isnan(found) ? 0 : std::numeric_limits<double>::infinity();
  const auto rounded = static_cast<Number>(exact);
  if (std::isinf(rounded) || std::isinf(found)) {
    return found == rounded ? 0 : std::numeric_limits<double>::infinity();
  }
  if (rounded == 0 && found == 0) return std::signbit(found) == std::signbit(exact) ? 0 : 1000;
  const Number size = std::fmax(std::fabs(rounded), std::numeric_limits<Number>::min());
  const Wide unit = std::ldexp(Wide(1), std::ilogb(size) - std::numeric_limits<Number>::digits + 1);
  return static_cast<double>(std::fabs(static_cast<Wide>(found) - exact) / unit);
}

template <typename Number, typename Reference>
void expect_close(const Named& function, const std::vector<Number>& x,
                  const std::vector<Number>& found, const Reference& reference) {
  double worst = 0;
  size_t place = 0;
  for (size_t n = 0; n < x.size(); ++n) {
    const double off = ulps(found[n], reference(x[n]));
    if (off > worst) {
      worst = off;
      place = n;
    }
  }
  EXPECT_LE(worst, kMostUlps) << function.name << "(" << x[place] << ") is " << found[place]
                              << ", not " << reference(x[place]);
  testing::Test::RecordProperty(function.name, std::to_string(worst));
}

class ElementaryFunction : public testing::TestWithParam<Named> {};

TEST_P(ElementaryFunction, OfFloat32) {
  const bool all = std::getenv("TULLE_TEST_FULL") != nullptr;
  const uint64_t stride = all ? 1 : 2053;
  constexpr uint64_t count = uint64_t{1} << 32;
  for (const char* features : {"", "sse4.2"}) {
    const Compiled<float> compiled(GetParam(), features);
    std::vector<float> x;
    for (uint64_t bits = 0; bits < count; bits += stride) {
      x.push_back(std::bit_cast<float>(static_cast<uint32_t>(bits)));
      if (x.size() < (1 << 20) && bits + stride < count) continue;
      expect_close(GetParam(), x, compiled(x),
                   [](float v) { return GetParam().in_double(static_cast<double>(v)); });
      if (testing::Test::HasFailure()) return;
      x.clear();
    }
  }
}

TEST_P(ElementaryFunction, OfFloat64) {
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> exponent(-1080, 1024);
  std::uniform_real_distribution<double> near(-40, 40);
  std::vector<double> x;
  for (int n = 0; n < 200000; ++n) {
    const double size = std::exp2(exponent(random));
    x.push_back(n % 2 == 0 ? size : -size);
    x.push_back(near(random));
    x.push_back(near(random) / 20);
    x.push_back(near(random) * 20);
  }
  for (const char* features : {"", "sse4.2"}) {
    const Compiled<double> compiled(GetParam(), features);
    expect_close(GetParam(), x, compiled(x),
                 [](double v) { return GetParam().in_long_double(static_cast<long double>(v)); });
  }
}

TEST_P(ElementaryFunction, OfSpecialNumbers) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  const std::vector<double> x = {0.0,    -0.0,    inf,    -inf,    std::nan(""), 1,      -1,
                                 5e-324, -5e-324, 1e-310, 1.7e308, -1.7e308,     709.78, 710};
  expect_close(GetParam(), x, Compiled<double>(GetParam(), "")(x),
               [](double v) { return GetParam().in_long_double(static_cast<long double>(v)); });
  std::vector<float> single;
  for (const double v : x) single.push_back(static_cast<float>(v));
  expect_close(GetParam(), single, Compiled<float>(GetParam(), "")(single),
               [](float v) { return GetParam().in_double(static_cast<double>(v)); });
}

INSTANTIATE_TEST_SUITE_P(Functions, ElementaryFunction, testing::ValuesIn(functions()),
                         [](const auto& entry) { return std::string(entry.param.name); });

}  // namespace
}  // namespace tulle::differential
