// Parses, transforms and interprets kernels.
#include "fixture.h"

#include <algorithm>
#include <cmath>

#include "loop/parse.h"
#include "loop/print.h"
#include "loop/verify.h"

namespace tulle::passes {

using namespace loop;

namespace {

uint64_t next_random(uint64_t& state) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return state >> 33;
}

template <typename T>
std::vector<T> random_halves(int64_t count, uint64_t seed) {
  std::vector<T> values(count);
  for (T& value : values) {
    const auto number = static_cast<int64_t>(next_random(seed) % 32) - 16;
    value = static_cast<T>(number == 0 ? 1 : number) / 2;
  }
  return values;
}

template <typename T>
void expect_close(const Array& expected, const Array& actual, double tolerance,
                  const std::string& what) {
  const auto a = to_vector<T>(expected), b = to_vector<T>(actual);
  ASSERT_EQ(a.size(), b.size()) << what;
  for (size_t i = 0; i < a.size(); ++i) {
    const auto first = expected.bytes.begin() + static_cast<int64_t>(i * sizeof(T));
    const auto other = actual.bytes.begin() + static_cast<int64_t>(i * sizeof(T));
    if (std::equal(first, first + sizeof(T), other)) continue;
    const double x = static_cast<double>(a[i]), y = static_cast<double>(b[i]);
    const double allowed = tolerance * std::max({1.0, std::abs(x), std::abs(y)});
    const bool close = tolerance > 0 && std::abs(x - y) <= allowed;
    ASSERT_TRUE(close) << what << "[" << i << "]: " << x << " before, " << y << " after";
  }
}

void expect_close(const Array& expected, const Array& actual, double tolerance,
                  const std::string& what) {
  switch (expected.element) {
    case DType::Float32:
      return expect_close<float>(expected, actual, tolerance, what);
    case DType::Float64:
      return expect_close<double>(expected, actual, tolerance, what);
    case DType::Int64:
      return expect_close<int64_t>(expected, actual, 0, what);
    case DType::Int32:
      return expect_close<int32_t>(expected, actual, 0, what);
    default:
      EXPECT_EQ(expected.bytes, actual.bytes) << what;
  }
}

void expect_results(const HostProgram& program, const Arrays& buffers, const Scalars& scalars,
                    const Arrays& expected, double tolerance) {
  SCOPED_TRACE(to_string(program));
  const Arrays actual = interpret(program, buffers, scalars);
  ASSERT_EQ(expected.size(), actual.size());
  for (const auto& [name, array] : expected) expect_close(array, actual.at(name), tolerance, name);
}

}  // namespace

HostProgram program_of(const std::string& kernel_text) {
  Kernel kernel = parse_kernel(kernel_text);
  HostProgram program{"test", kernel.buffers, kernel.scalars, {LaunchStep{kernel.name}},
                      {},     {kernel}};
  verify(program);
  return program;
}

Transformed transform(const std::string& pass, const std::string& kernel_text, bool masks,
                      Backend backend) {
  const HostProgram program = program_of(kernel_text);
  PipelineResult result =
      run_pass(pass, program, {.backend = backend, .masks = masks, .verify = true});
  return {to_string(program.kernels[0]), to_string(result.program.kernels[0]), result.remarks,
          result.program};
}

void expect_same_results(const std::vector<std::string>& passes, const std::string& kernel_text,
                         const Arrays& buffers, const Scalars& scalars, double tolerance,
                         bool masks, Backend backend) {
  HostProgram program = program_of(kernel_text);
  const Arrays before = interpret(program, buffers, scalars);
  for (const std::string& pass : passes) {
    program =
        run_pass(pass, std::move(program), {.backend = backend, .masks = masks, .verify = true})
            .program;
  }
  expect_results(program, buffers, scalars, before, tolerance);
}

void expect_pipeline_keeps_results(const PipelineOptions& options, const std::string& kernel_text,
                                   const Arrays& buffers, const Scalars& scalars,
                                   double tolerance) {
  const HostProgram program = program_of(kernel_text);
  const Arrays before = interpret(program, buffers, scalars);
  PipelineOptions verified = options;
  verified.verify = true;
  expect_results(run_passes(program, verified).program, buffers, scalars, before, tolerance);
}

Array floats(int64_t count, uint64_t seed) {
  return to_array(DType::Float32, random_halves<float>(count, seed));
}

Array doubles(int64_t count, uint64_t seed) {
  return to_array(DType::Float64, random_halves<double>(count, seed));
}

Array indices(int64_t count, int64_t below, uint64_t seed) {
  std::vector<int64_t> values(count);
  for (int64_t& value : values)
    value = static_cast<int64_t>(next_random(seed) % static_cast<uint64_t>(below));
  return to_array(DType::Int64, values);
}

}  // namespace tulle::passes
