// Every expression node on every element type, as scalars and as vectors, on every instruction set.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include <gtest/gtest.h>

#include "codegen/fixture.h"
#include "loop/parse.h"
#include "support/check.h"

namespace tulle::codegen {
namespace {

constexpr int kLanes = 8;

template <typename T>
constexpr const char* kName = nullptr;
template <>
constexpr const char* kName<bool> = "bool";
template <>
constexpr const char* kName<int32_t> = "i32";
template <>
constexpr const char* kName<int64_t> = "i64";
template <>
constexpr const char* kName<float> = "f32";
template <>
constexpr const char* kName<double> = "f64";

template <typename T>
std::vector<T> inputs(int which) {
  using Limits = std::numeric_limits<T>;
  if constexpr (std::is_same_v<T, bool>) {
    if (which == 0) return {true, true, false, false, true, true, false, false};
    return {true, false, true, false, true, false, true, false};
  } else if constexpr (std::is_integral_v<T>) {
    if (which == 0) return {7, -7, 0, Limits::min(), Limits::max(), 5, -1, 100};
    return {2, 3, 0, -1, 1, 0, -5, 33};
  } else {
    const T nan = Limits::quiet_NaN(), infinity = Limits::infinity();
    if (which == 0) return {T(0.5), T(-2.5), 0, nan, 3, infinity, T(1.5), T(-0.25)};
    return {T(0.25), 4, T(0.5), 1, nan, -infinity, T(-1.5), T(0.75)};
  }
}

// Memory whose bools are bytes.
template <typename T>
using Stored = std::conditional_t<std::is_same_v<T, bool>, uint8_t, T>;

// C[lane] = text(x = A[lane], y = B[lane]) for eight lanes, as a scalar loop or as one vector.
template <typename R, typename T>
std::vector<R> compute(const std::string& text, bool vector, const Target& target) {
  std::string body =
      vector
          ? "let x: TxN = A[ramp(0, 1, N)] let y: TxN = B[ramp(0, 1, N)] C[ramp(0, 1, N)] = " + text
          : "for i in [0, N) { let x: T = A[i] let y: T = B[i] C[i] = " + text + " }";
  std::string source = "kernel kernel(A: T*, B: T*, C: mut R*) { " + body + " }";
  const auto replace = [&](const std::string& from, const std::string& to) {
    for (size_t at = source.find(from); at != std::string::npos;
         at = source.find(from, at + to.size())) {
      source.replace(at, from.size(), to);
    }
  };
  replace("R*", std::string(kName<R>) + "*");
  replace("T*", std::string(kName<T>) + "*");
  replace("TxN", concat(kName<T>, "x", kLanes));
  replace(": T ", concat(": ", kName<T>, " "));
  replace("N)", concat(kLanes, ")"));
  const std::vector<T> a_values = inputs<T>(0), b_values = inputs<T>(1);
  std::vector<Stored<T>> a(a_values.begin(), a_values.end()), b(b_values.begin(), b_values.end());
  std::vector<Stored<R>> c(kLanes);
  const CompiledKernel kernel(loop::parse_kernel(source), target);
  EXPECT_EQ(kernel.run({a.data(), b.data(), c.data()}), loop::kKernelOk);
  return std::vector<R>(c.begin(), c.end());
}

template <typename R>
bool equal(R a, R b) {
  return a == b || (a != a && b != b);
}

// Lanes in which x is not `defined` may hold any value.
template <typename R, typename T>
void expect(
    const std::string& text, const std::function<R(T, T)>& function,
    const std::function<bool(T)>& defined = [](T) { return true; }) {
  const std::vector<T> a = inputs<T>(0), b = inputs<T>(1);
  for (const std::string& preset : presets_of_host()) {
    for (const bool vector : {false, true}) {
      const std::vector<R> c = compute<R, T>(text, vector, host_target(preset));
      for (int lane = 0; lane < kLanes; ++lane) {
        if (!defined(a[lane])) continue;
        const R expected = function(a[lane], b[lane]);
        EXPECT_TRUE(equal<R>(c[lane], expected))
            << text << " of " << kName<T> << " on " << preset << (vector ? " as vector" : "")
            << ", lane " << lane << ": " << c[lane] << ", expected " << expected;
      }
    }
  }
}

template <typename T>
class Floats : public testing::Test {};
using FloatTypes = testing::Types<float, double>;
TYPED_TEST_SUITE(Floats, FloatTypes);

TYPED_TEST(Floats, Arithmetic) {
  using T = TypeParam;
  expect<T, T>("x + y", [](T x, T y) { return x + y; });
  expect<T, T>("x - y", [](T x, T y) { return x - y; });
  expect<T, T>("x * y", [](T x, T y) { return x * y; });
  expect<T, T>("x / y", [](T x, T y) { return x / y; });
  expect<T, T>("min(x, y)", [](T x, T y) { return x != x || x < y ? x : y; });
  expect<T, T>("max(x, y)", [](T x, T y) { return x != x || x > y ? x : y; });
}

TYPED_TEST(Floats, Comparisons) {
  using T = TypeParam;
  expect<bool, T>("x == y", [](T x, T y) { return x == y; });
  expect<bool, T>("x != y", [](T x, T y) { return x != y; });
  expect<bool, T>("x < y", [](T x, T y) { return x < y; });
  expect<bool, T>("x <= y", [](T x, T y) { return x <= y; });
  expect<bool, T>("x > y", [](T x, T y) { return x > y; });
  expect<bool, T>("x >= y", [](T x, T y) { return x >= y; });
  expect<T, T>("select(x < y || x > y, x, y)", [](T x, T y) { return x < y || x > y ? x : y; });
}

TYPED_TEST(Floats, NativeFunctions) {
  using T = TypeParam;
  expect<T, T>("neg(x)", [](T x, T) { return -x; });
  expect<T, T>("abs(x)", [](T x, T) { return std::abs(x); });
  expect<T, T>("sqrt(x)", [](T x, T) { return std::sqrt(x); });
  expect<T, T>("floor(x)", [](T x, T) { return std::floor(x); });
  expect<T, T>("ceil(x)", [](T x, T) { return std::ceil(x); });
  expect<T, T>("round(x)", [](T x, T) { return std::nearbyint(x); });
  expect<T, T>("trunc(x)", [](T x, T) { return std::trunc(x); });
  expect<T, T>("fma(x, y, x)", [](T x, T y) { return std::fma(x, y, x); });
}

TYPED_TEST(Floats, LibraryFunctions) {
  using T = TypeParam;
  expect<T, T>("sin(x)", [](T x, T) { return std::sin(x); });
  expect<T, T>("tan(x)", [](T x, T) { return std::tan(x); });
  expect<T, T>("asin(x)", [](T x, T) { return std::asin(x); });
  expect<T, T>("atan(x)", [](T x, T) { return std::atan(x); });
  expect<T, T>("sinh(x)", [](T x, T) { return std::sinh(x); });
  expect<T, T>("tanh(x)", [](T x, T) { return std::tanh(x); });
  expect<T, T>("asinh(x)", [](T x, T) { return std::asinh(x); });
  expect<T, T>("atanh(x)", [](T x, T) { return std::atanh(x); });
  expect<T, T>("expm1(x)", [](T x, T) { return std::expm1(x); });
  expect<T, T>("log1p(x)", [](T x, T) { return std::log1p(x); });
  expect<T, T>("erf(x)", [](T x, T) { return std::erf(x); });
}

TYPED_TEST(Floats, Casts) {
  using T = TypeParam;
  expect<bool, T>("bool(x)", [](T x, T) { return x != 0; });
  expect<float, T>("f32(x)", [](T x, T) { return static_cast<float>(x); });
  expect<double, T>("f64(x)", [](T x, T) { return static_cast<double>(x); });
  // The result of an out-of-range conversion is arbitrary.
  const auto in_range = [](T x) { return std::abs(x) < 1e9; };
  expect<int32_t, T>("i32(x)", [](T x, T) { return static_cast<int32_t>(x); }, in_range);
  expect<int64_t, T>("i64(x)", [](T x, T) { return static_cast<int64_t>(x); }, in_range);
}

template <typename T>
class Integers : public testing::Test {};
using IntegerTypes = testing::Types<int32_t, int64_t>;
TYPED_TEST_SUITE(Integers, IntegerTypes);

TYPED_TEST(Integers, Arithmetic) {
  using T = TypeParam;
  using U = std::make_unsigned_t<T>;
  expect<T, T>("x + y",
               [](T x, T y) { return static_cast<T>(static_cast<U>(x) + static_cast<U>(y)); });
  expect<T, T>("x - y",
               [](T x, T y) { return static_cast<T>(static_cast<U>(x) - static_cast<U>(y)); });
  expect<T, T>("x * y",
               [](T x, T y) { return static_cast<T>(static_cast<U>(x) * static_cast<U>(y)); });
  expect<T, T>("x / y", [](T x, T y) {
    if (y == -1) return static_cast<T>(U{0} - static_cast<U>(x));
    return y == 0 ? 0 : x / y;
  });
  expect<T, T>("x % y", [](T x, T y) { return y == 0 || y == -1 ? 0 : x % y; });
  expect<T, T>("min(x, y)", [](T x, T y) { return std::min(x, y); });
  expect<T, T>("max(x, y)", [](T x, T y) { return std::max(x, y); });
  expect<T, T>("abs(x)",
               [](T x, T) { return x < 0 ? static_cast<T>(U{0} - static_cast<U>(x)) : x; });
  expect<T, T>("neg(x)", [](T x, T) { return static_cast<T>(U{0} - static_cast<U>(x)); });
  expect<T, T>("fma(x, y, y)", [](T x, T y) {
    return static_cast<T>(static_cast<U>(x) * static_cast<U>(y) + static_cast<U>(y));
  });
}

TYPED_TEST(Integers, Bits) {
  using T = TypeParam;
  using U = std::make_unsigned_t<T>;
  constexpr T kMask = 8 * sizeof(T) - 1;
  expect<T, T>("x & y", [](T x, T y) { return x & y; });
  expect<T, T>("x | y", [](T x, T y) { return x | y; });
  expect<T, T>("x ^ y", [](T x, T y) { return x ^ y; });
  expect<T, T>("x << y", [](T x, T y) { return static_cast<T>(static_cast<U>(x) << (y & kMask)); });
  expect<T, T>("x >> y", [](T x, T y) { return x >> (y & kMask); });
  expect<T, T>("not(x)", [](T x, T) { return ~x; });
}

TYPED_TEST(Integers, ComparisonsAndCasts) {
  using T = TypeParam;
  expect<bool, T>("x == y || x < y && x != y", [](T x, T y) { return x <= y; });
  expect<bool, T>("x <= y", [](T x, T y) { return x <= y; });
  expect<bool, T>("x > y", [](T x, T y) { return x > y; });
  expect<bool, T>("x >= y", [](T x, T y) { return x >= y; });
  expect<bool, T>("bool(x)", [](T x, T) { return x != 0; });
  expect<int32_t, T>("i32(x)", [](T x, T) { return static_cast<int32_t>(x); });
  expect<int64_t, T>("i64(x)", [](T x, T) { return static_cast<int64_t>(x); });
  expect<float, T>("f32(x)", [](T x, T) { return static_cast<float>(x); });
  expect<double, T>("f64(x)", [](T x, T) { return static_cast<double>(x); });
}

TEST(Bools, EveryOperator) {
  expect<bool, bool>("x && y", [](bool x, bool y) { return x && y; });
  expect<bool, bool>("x || y", [](bool x, bool y) { return x || y; });
  expect<bool, bool>("x ^ y", [](bool x, bool y) { return x != y; });
  expect<bool, bool>("x == y", [](bool x, bool y) { return x == y; });
  expect<bool, bool>("x < y", [](bool x, bool y) { return !x && y; });
  expect<bool, bool>("min(x, y)", [](bool x, bool y) { return x && y; });
  expect<bool, bool>("max(x, y)", [](bool x, bool y) { return x || y; });
  expect<bool, bool>("not(x)", [](bool x, bool) { return !x; });
  expect<int32_t, bool>("i32(x)", [](bool x, bool) { return x; });
  expect<int64_t, bool>("i64(x)", [](bool x, bool) { return x; });
  expect<float, bool>("f32(x)", [](bool x, bool) { return x; });
  expect<double, bool>("f64(x)", [](bool x, bool) { return x; });
  expect<bool, bool>("select(x, not(y), y)", [](bool x, bool y) { return x ? !y : y; });
}

}  // namespace
}  // namespace tulle::codegen
