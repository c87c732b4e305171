// Every statement node, and loads, stores and reductions of vectors.
#include <cmath>
#include <limits>
#include <numeric>
#include <thread>

#include <gtest/gtest.h>

#include "codegen/fixture.h"
#include "loop/parse.h"
#include "support/check.h"

namespace tulle::codegen {
namespace {

CompiledKernel compile(const std::string& text, const std::string& preset) {
  return CompiledKernel(loop::parse_kernel(text), host_target(preset));
}

// For the widest vectors of this machine.
CompiledKernel compile(const std::string& text) { return compile(text, presets_of_host().back()); }

template <typename T>
std::vector<T> numbers(int count) {
  std::vector<T> result(static_cast<size_t>(count));
  std::iota(result.begin(), result.end(), T(1));
  return result;
}

class On : public OnPreset {};
INSTANTIATE_TEST_SUITE_P(Presets, On, testing::Values("sse4.2", "avx2", "avx512"));

TEST(Stmt, LoopsAndVariables) {
  const auto kernel = compile(R"(kernel kernel(C: mut i64*; n: i64) {
    var sum: i64 = 0
    for i in [0, n) by 3 { sum = sum + i }
    C[0] = sum
    var x: i64 = n
    var steps: i64 = 0
    while (x != 1) {
      if (x % 2 == 0) { x = x / 2 } else { x = 3 * x + 1 }
      steps = steps + 1
    }
    C[1] = steps
    { let again: i64 = 5  C[2] = again }
    { let again: i64 = 6  C[3] = again }
    unrolled(4) for i in [0, n) { C[4] = C[4] + i }
    unrolled for i in [0, 5) { C[5 + i] = i * i }
    vector(4) for i in [0, 3) { C[10 + i] = 7 }
  })");
  std::vector<int64_t> c(13);
  EXPECT_EQ(kernel.run({c.data()}, {27}), loop::kKernelOk);
  EXPECT_EQ(c, (std::vector<int64_t>{108, 111, 5, 6, 351, 0, 1, 4, 9, 16, 7, 7, 7}));
}

TEST(Stmt, UnrolledLoopsKeepLocalArraysInRegisters) {
  const auto kernel = compile(R"(kernel kernel(A: f32*, C: mut f32*; n: i64) {
    sums = alloc zeroed local f32[4]
    for i in [0, n) { unrolled for k in [0, 4) { sums[k] = sums[k] + A[4 * i + k] } }
    unrolled for k in [0, 4) { C[k] = sums[k] }
  })");
  EXPECT_EQ(kernel.llvm_text().find("alloca"), std::string::npos) << kernel.llvm_text();
  auto a = numbers<float>(12);
  std::vector<float> c(4);
  kernel.run({a.data(), c.data()}, {3});
  EXPECT_EQ(c, (std::vector<float>{15, 18, 21, 24}));
}

TEST(Stmt, LogicAndSelectAreLazy) {
  const auto kernel = compile(R"(kernel kernel(A: i64*, C: mut i64*; n: i64) {
    var found: i64 = 0
    for i in [0, 100) {
      if (i < n && A[i] == 2) { found = found + 1 }
      if (i >= n || A[i] == 3) { found = found + 100 }
      found = found + select(i < n, A[i], 10000)
      let last: i64 = A[i if i < n]
      found = found + last
    }
    C[0] = found
  })");
  int64_t found = 0;
  kernel.run({nullptr, &found}, {0});  // would crash if it loaded
  EXPECT_EQ(found, 100 * 100 + 100 * 10000);
}

TEST(Stmt, ScalarsOfEveryType) {
  const auto kernel =
      compile(R"(kernel kernel(C: mut f64*; b: bool, i: i32, l: i64, f: f32, d: f64) {
    C[0] = f64(b)  C[1] = f64(i)  C[2] = f64(l)  C[3] = f64(f)  C[4] = d
  })");
  std::vector<double> c(5);
  kernel.run({c.data()}, {1, -7, -8, std::bit_cast<int32_t>(-2.5F), std::bit_cast<int64_t>(1e300)});
  EXPECT_EQ(c, (std::vector<double>{1, -7, -8, -2.5, 1e300}));
}

TEST_P(On, GatherScatterAndStridedRamps) {
  const auto kernel = compile(R"(kernel kernel(A: f32*, P: i32*, C: mut f32*, D: mut f32*; n: i64) {
    let index: i64x8 = i64(P[ramp(0, 1, 8)])
    C[ramp(0, 1, 8)] = A[index]
    D[index * broadcast(2, 8)] = A[ramp(0, 2, 8)]
    C[ramp(8, 1, 8)] = A[index if ramp(0, 1, 8) < broadcast(n, 8)]
    D[ramp(1, 2, 8) if ramp(0, 1, 8) >= broadcast(n, 8)] = A[broadcast(n, 8)]
  })",
                              GetParam());
  auto a = numbers<float>(16);
  std::vector<int32_t> p{7, 6, 5, 4, 3, 2, 1, 0};
  std::vector<float> c(16), d(16);
  kernel.run({a.data(), p.data(), c.data(), d.data()}, {3});
  EXPECT_EQ(c, (std::vector<float>{8, 7, 6, 5, 4, 3, 2, 1, 8, 7, 6, 0, 0, 0, 0, 0}));
  EXPECT_EQ(d, (std::vector<float>{15, 0, 13, 0, 11, 0, 9, 4, 7, 4, 5, 4, 3, 4, 1, 4}));
}

// A masked tail of every element type, with guards on both sides of the output.
template <typename T>
void expect_masked_copy(const char* type, const char* preset) {
  const auto kernel = compile(
      concat("kernel kernel(A: ", type, "*, C: mut ", type, "*; n: i64) {",
             "for i in [0, n) by 16 { C[ramp(i, 1, 16) if ramp(i, 1, 16) < broadcast(n, 16)] = ",
             "A[ramp(i, 1, 16) if ramp(i, 1, 16) < broadcast(n, 16)] } }"),
      preset);
  for (int n = 0; n < 40; ++n) {
    std::vector<T> a(64), c(64, T(1)), expected(64, T(1));
    for (int i = 0; i < n; ++i) expected[i] = a[i] = T(i % 3 == 0);
    kernel.run({a.data(), c.data()}, {n});
    EXPECT_EQ(c, expected) << type << " " << n;
  }
}

TEST_P(On, MaskedTails) {
  expect_masked_copy<uint8_t>("bool", GetParam());
  expect_masked_copy<int32_t>("i32", GetParam());
  expect_masked_copy<int64_t>("i64", GetParam());
  expect_masked_copy<float>("f32", GetParam());
  expect_masked_copy<double>("f64", GetParam());
}

template <typename T>
std::vector<T> reduce(const char* type, std::vector<T> a, const char* preset) {
  const auto kernel = compile(
      concat("kernel kernel(A: ", type, "*, C: mut ", type, "*) { let x: ", type,
             "x8 = A[ramp(0, 1, 8)]", " C[0] = vector_reduce(add, x) C[1] = vector_reduce(mul, x)",
             " C[2] = vector_reduce(min, x) C[3] = vector_reduce(max, x) }"),
      preset);
  std::vector<T> c(4);
  kernel.run({a.data(), c.data()});
  return c;
}

TEST_P(On, VectorReductions) {
  EXPECT_EQ(reduce<int32_t>("i32", {1, 2, 3, 4, 5, 6, 7, -8}, GetParam()),
            (std::vector<int32_t>{20, -40320, -8, 7}));
  EXPECT_EQ(reduce<int64_t>("i64", {1, 2, 3, 4, 5, 6, 7, -8}, GetParam()),
            (std::vector<int64_t>{20, -40320, -8, 7}));
  EXPECT_EQ(reduce<float>("f32", {1, 2, 3, 4, 5, 6, 7, -8}, GetParam()),
            (std::vector<float>{20, -40320, -8, 7}));
  EXPECT_EQ(reduce<double>("f64", {1, 2, 3, 4, 5, 6, 7, -8}, GetParam()),
            (std::vector<double>{20, -40320, -8, 7}));
  EXPECT_EQ(reduce<uint8_t>("bool", {1, 0, 1, 1, 1, 1, 1, 1}, GetParam()),
            (std::vector<uint8_t>{1, 0, 0, 1}));
  for (int lane = 0; lane < 8; ++lane) {
    std::vector<float> a = numbers<float>(8);
    a[lane] = std::numeric_limits<float>::quiet_NaN();
    for (const float x : reduce<float>("f32", a, GetParam())) EXPECT_TRUE(std::isnan(x)) << lane;
  }
  const auto kernel = compile(
      "kernel kernel(A: i32*, C: mut i32*) { C[0] = vector_reduce(and, A[ramp(0, 1, 4)]) "
      "C[1] = vector_reduce(or, A[ramp(0, 1, 4)]) }",
      GetParam());
  std::vector<int32_t> a{7, 3, 11, 19}, c(2);
  kernel.run({a.data(), c.data()});
  EXPECT_EQ(c, (std::vector<int32_t>{3, 31}));
}

TEST(Stmt, Workspaces) {
  const auto kernel = compile(R"(kernel kernel(C: mut i64*; n: i64) {
    outer = alloc zeroed workspace i64[n]
    for i in [0, 3) {
      inner = alloc workspace i32[n + i]
      for k in [0, n) { inner[k] = i32(k) }
      for k in [0, n) { outer[k] = outer[k] + i64(inner[k]) }
    }
    for k in [0, n) { C[k] = outer[k] }
  })");
  FakeRuntime& runtime = fake_runtime();
  runtime = {};
  std::vector<int64_t> c(4);
  EXPECT_EQ(kernel.run({c.data()}, {4}), loop::kKernelOk);
  EXPECT_EQ(c, (std::vector<int64_t>{0, 3, 6, 9}));
  EXPECT_EQ(runtime.allocations, 4);
  EXPECT_EQ(runtime.live_workspaces, 0);
  for (int fail_after = 0; fail_after < 4; ++fail_after) {
    runtime = {};
    runtime.fail_after = fail_after;
    EXPECT_EQ(kernel.run({c.data()}, {4}), loop::kKernelOutOfMemory);
    EXPECT_EQ(runtime.live_workspaces, 0);
  }
}

TEST(Stmt, SortAndReport) {
  const auto kernel = compile(R"(kernel kernel(P: mut i32*, L: mut i64*; n: i64) {
    sort(P, 1, n)
    sort(L, 0, n - 1)
    w = alloc workspace i64[3]
    if (n > 4) { report_out_of_bounds(P, n, 4) }
    P[0] = 0:i32
  })");
  FakeRuntime& runtime = fake_runtime();
  runtime = {};
  std::vector<int32_t> p{9, 3, -2, 1};
  std::vector<int64_t> l{9, 3, -2, 1};
  EXPECT_EQ(kernel.run({p.data(), l.data()}, {4}), loop::kKernelOk);
  EXPECT_EQ(p, (std::vector<int32_t>{0, -2, 1, 3}));
  EXPECT_EQ(l, (std::vector<int64_t>{-2, 3, 9, 1}));
  p.resize(5);
  l.resize(5);
  EXPECT_EQ(kernel.run({p.data(), l.data()}, {5}), loop::kKernelOutOfBounds);
  EXPECT_EQ(runtime.bad_buffer, "P");
  EXPECT_EQ(runtime.bad_index, 5);
  EXPECT_EQ(runtime.bad_size, 4);
  EXPECT_EQ(runtime.live_workspaces, 0);
}

TEST(Stmt, LocalArraysWithRuntimeIndices) {
  const auto kernel = compile(R"(kernel kernel(A: i64*, C: mut i64*; n: i64) {
    for i in [0, 2) {
      seen = alloc zeroed local bool[8]
      counts = alloc zeroed local i64[8]
      for k in [0, n) { counts[A[k]] = counts[A[k]] + 1  seen[A[k]] = true }
      for k in [0, 8) { C[k] = C[k] + select(seen[k], counts[k], 100) }
    }
  })");
  std::vector<int64_t> a{1, 1, 7, 3}, c(8);
  kernel.run({a.data(), c.data()}, {4});
  EXPECT_EQ(c, (std::vector<int64_t>{200, 4, 200, 2, 200, 200, 200, 2}));
}

template <typename T>
void expect_atomics(const char* type, bool bitwise) {
  const std::string bits = bitwise ? "atomic_and(C[4], A[k]) atomic_or(C[5], A[k]) " : "";
  const auto kernel = compile(
      concat("kernel kernel(A: ", type, "*, C: mut ", type, "*, L: mut ", type,
             "*; n: i64) { for k in [0, n) {", "let old: ", type,
             " = atomic_add(C[0], A[k]) L[k] = old atomic_mul(C[1], A[k]) atomic_min(C[2], A[k]) ",
             "atomic_max(C[3], A[k]) ", bits, "} }"));
  std::vector<T> a{3, 1, 2}, c{0, 1, 2, 2, 7, 8}, l(3);
  kernel.run({a.data(), c.data(), l.data()}, {3});
  EXPECT_EQ(c, (std::vector<T>{6, 6, 1, 3, T(bitwise ? 0 : 7), T(bitwise ? 11 : 8)})) << type;
  EXPECT_EQ(l, (std::vector<T>{0, 3, 4})) << type;
  // No update is lost between threads.
  c = {0, 1, 2, 2, 7, 8};
  std::vector<T> ones(1 << 15, T(1)), other = ones;
  std::vector<T> old(ones.size()), old2(ones.size());
  const auto count = static_cast<int64_t>(ones.size());
  std::thread second([&] { kernel.run({other.data(), c.data(), old2.data()}, {count}); });
  kernel.run({ones.data(), c.data(), old.data()}, {count});
  second.join();
  EXPECT_EQ(c[0], T(2 * count)) << type;
}

TEST(Stmt, Atomics) {
  expect_atomics<int32_t>("i32", true);
  expect_atomics<int64_t>("i64", true);
  expect_atomics<float>("f32", false);
  expect_atomics<double>("f64", false);
  const auto kernel = compile(R"(kernel kernel(C: mut bool*, L: mut bool*) {
    let old: bool = atomic_or(C[0], true)  L[0] = old
    atomic_and(C[1], false)
    atomic_max(C[2], true)
    atomic_min(C[3], false)
    atomic_add(C[4], true)
    atomic_mul(C[5], false)
  })");
  std::vector<uint8_t> c{0, 1, 0, 1, 0, 1}, l{1};
  kernel.run({c.data(), l.data()});
  EXPECT_EQ(c, (std::vector<uint8_t>{1, 0, 1, 0, 1, 0}));
  EXPECT_EQ(l[0], 0);
}

// Floating-point maxima and minima use the bits of the numbers.
template <typename T>
void expect_extremes(const char* type) {
  const auto kernel = compile(
      concat("kernel kernel(A: ", type, "*, C: mut ", type,
             "*; n: i64) { for k in [0, n) { atomic_max(C[0], A[k]) atomic_min(C[1], A[k]) } }"));
  const T infinity = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
  const std::vector<T> finite{T(-0.0), 0, T(1.5), T(-1.5), T(-1e30), T(1e30), T(-3), 2};
  for (const T first : finite) {
    for (const T second : {T(-infinity), infinity, T(-0.5), T(0.5), T(-7), T(7)}) {
      std::vector<T> a{first, second}, c{-infinity, infinity};
      kernel.run({a.data(), c.data()}, {2});
      EXPECT_EQ(c[0], std::max(first, second)) << type << " " << first << " " << second;
      EXPECT_EQ(c[1], std::min(first, second)) << type << " " << first << " " << second;
    }
    for (const T not_a_number : {nan, std::copysign(nan, T(-1))}) {
      for (std::vector<T> a : {std::vector<T>{first, not_a_number, -first, infinity},
                               std::vector<T>{not_a_number, -infinity, first, T(-first)}}) {
        std::vector<T> c{-infinity, infinity};
        kernel.run({a.data(), c.data()}, {4});
        EXPECT_TRUE(std::isnan(c[0]) && std::isnan(c[1])) << type << " " << first;
      }
    }
  }
  std::vector<T> zeros{T(-0.0), 0, T(-0.0)}, c{-infinity, infinity};
  kernel.run({zeros.data(), c.data()}, {3});
  EXPECT_FALSE(std::signbit(c[0]));
  EXPECT_TRUE(std::signbit(c[1]));
}

TEST(Stmt, AtomicExtremes) {
  expect_extremes<float>("f32");
  expect_extremes<double>("f64");
}

TEST(Stmt, PrefetchNeverFaults) {
  const auto kernel = compile(
      "kernel kernel(A: f32*; n: i64) { prefetch(A[n], 1) prefetch(A[n], 2) prefetch(A[n], 3) }");
  EXPECT_EQ(kernel.run({nullptr}, {int64_t{1} << 50}), loop::kKernelOk);
  for (const char* instruction : {"prefetcht0", "prefetcht1", "prefetcht2"}) {
    EXPECT_NE(kernel.assembly_text().find(instruction), std::string::npos)
        << kernel.assembly_text();
  }
}

TEST(Stmt, RefusesWhatBelongsToTheGpu) {
  for (const char* body :
       {"block for b in [0, 4) { C[b] = 0.0f }", "barrier(block)", "w = alloc shared f32[4]",
        "C[0] = lane_reduce(add, C[0], 32)", "C[0] = lane_shuffle(xor, C[0], 1, 32)",
        "C[0] = exp2(C[0])",
        "parallel for i in [0, 4) { parallel for k in [0, 4) { C[k] = 0.0f } }"}) {
    const auto kernel = loop::parse_kernel(concat("kernel kernel(C: mut f32*) {", body, "}"));
    EXPECT_THROW(emit_cpu({kernel}, host_target()), InternalError) << body;
  }
}

}  // namespace
}  // namespace tulle::codegen
