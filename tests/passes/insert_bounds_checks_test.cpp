// Checked mode reports bad indices with their buffer; correct programs run unchanged.
#include "passes/insert_bounds_checks.h"

#include "fixture.h"
#include "loop/parse.h"
#include "loop/print.h"
#include "loop/verify.h"
#include "support/check.h"
#include "support/mutant.h"

namespace tulle::passes {
namespace {

using loop::Arrays;
using loop::Scalars;

// Runs the kernel in checked mode, after the other passes, and returns the error or an empty text.
// The arrays are longer than the sizes passed to the kernel, so that the interpreter does not
// report accesses that the checks miss.
std::string run_checked(const std::string& kernel_text, Arrays buffers, Scalars scalars) {
  const auto program =
      run_passes(program_of(kernel_text), {.checked = true, .verify = true}).program;
  for (auto& [name, array] : buffers) {
    scalars[size_name(name)] = array.size();
    array.bytes.resize(array.bytes.size() + 16 * size_of(array.element));
  }
  try {
    loop::interpret(program, buffers, scalars);
  } catch (const InternalError& error) {
    return error.what();
  }
  return "";
}

void expect_report(const std::string& error, const std::string& buffer, int64_t index,
                   int64_t size) {
  const std::string report = concat(buffer, "[", index, "] is out of bounds, the size is ", size);
  EXPECT_NE(error.find(report), std::string::npos) << error;
}

constexpr const char* kGather = R"(
kernel gather(P: i64*, x: f32*, y: mut f32*; n: i64) {
  parallel for i in [0, n) {
    y[i] = x[P[i]]
  }
})";

TEST(InsertBoundsChecks, ReportsBufferIndexAndSize) {
  const Arrays buffers{
      {"P", loop::to_array<int64_t>(DType::Int64, {0, 7, 2})}, {"x", floats(5)}, {"y", floats(3)}};
  expect_report(run_checked(kGather, buffers, {{"n", 3}}), "x", 7, 5);
  const Arrays negative{
      {"P", loop::to_array<int64_t>(DType::Int64, {0, -1, 2})}, {"x", floats(5)}, {"y", floats(3)}};
  expect_report(run_checked(kGather, negative, {{"n", 3}}), "x", -1, 5);
  const Arrays right{{"P", indices(4, 5)}, {"x", floats(5)}, {"y", floats(3)}};
  expect_report(run_checked(kGather, right, {{"n", 4}}), "y", 3, 3);
}

TEST(InsertBoundsChecks, LetsRightProgramsRun) {
  EXPECT_EQ(
      run_checked(kGather, {{"P", indices(3, 5)}, {"x", floats(5)}, {"y", floats(3)}}, {{"n", 3}}),
      "");
}

TEST(InsertBoundsChecks, ChecksActiveLanesOnly) {
  const std::string text = R"(
kernel k(P: i64*, x: f32*, y: mut f32*; n: i64) {
  vector(4) for k in [0, n) {
    if (P[k] < 5) {
      y[k] = x[P[k]]
    }
  }
})";
  const Arrays buffers{{"P", loop::to_array<int64_t>(DType::Int64, {0, 7, 2, 9, 1, 4})},
                       {"x", floats(5)},
                       {"y", floats(6)}};
  EXPECT_EQ(run_checked(text, buffers, {{"n", 6}}), "");
  expect_report(run_checked(text, buffers, {{"n", 7}}), "P", 6, 6);
  const Arrays small{{"P", loop::to_array<int64_t>(DType::Int64, {0, 7, 2, 9, 1, 4})},
                     {"x", floats(4)},
                     {"y", floats(6)}};
  expect_report(run_checked(text, small, {{"n", 6}}), "x", 4, 4);
}

TEST(InsertBoundsChecks, ChecksWhatIsAllocatedInside) {
  const std::string text = R"(
kernel k(y: mut f32*; n: i64, m: i64) {
  w = alloc zeroed workspace f32[n * 2]
  t = alloc local f32[4]
  t[m % 4] = 1.0f
  y[0] = w[m] + t[m % 4]
})";
  EXPECT_EQ(run_checked(text, {{"y", floats(1)}}, {{"n", 3}, {"m", 5}}), "");
  expect_report(run_checked(text, {{"y", floats(1)}}, {{"n", 3}, {"m", 6}}), "w", 6, 6);
}

TEST(InsertBoundsChecks, ChecksConditionsOfLoopsEveryTime) {
  const std::string text = R"(
kernel k(P: i64*, y: mut i64*) {
  var p: i64 = 0
  while (P[p] > 0) {
    p = p + 1
  }
  y[0] = p
})";
  EXPECT_EQ(
      run_checked(text,
                  {{"P", loop::to_array<int64_t>(DType::Int64, {1, 1, 0})}, {"y", indices(1, 2)}},
                  {}),
      "");
  expect_report(
      run_checked(text,
                  {{"P", loop::to_array<int64_t>(DType::Int64, {1, 1, 1})}, {"y", indices(1, 2)}},
                  {}),
      "P", 3, 3);
}

TEST(InsertBoundsChecks, ChecksAtomicsAndSorts) {
  const std::string text =
      "kernel k(L: mut i64*; n: i64) { atomic_add(L[n], 1)\n sort(L, 0, n + 1) }";
  EXPECT_EQ(run_checked(text, {{"L", indices(4, 9)}}, {{"n", 3}}), "");
  expect_report(run_checked(text, {{"L", indices(4, 9)}}, {{"n", 4}}), "L", 4, 4);
  expect_report(run_checked("kernel k(L: mut i64*; n: i64) { sort(L, 1, n) }",
                            {{"L", indices(4, 9)}}, {{"n", 6}}),
                "L", 5, 4);
}

TEST(InsertBoundsChecks, GuardsWhatStandsBeforeAParallelLoop) {
  const std::string text = R"(
kernel k(P: i64*, y: mut f32*; m: i64) {
  let n: i64 = P[m]
  parallel for i in [P[0], n + 4) {
    y[i] = 1.0f
  }
})";
  EXPECT_EQ(
      run_checked(text, {{"P", loop::to_array<int64_t>(DType::Int64, {0, 2})}, {"y", floats(6)}},
                  {{"m", 1}}),
      "");
  expect_report(
      run_checked(text, {{"P", loop::to_array<int64_t>(DType::Int64, {0, 2})}, {"y", floats(6)}},
                  {{"m", 2}}),
      "P", 2, 2);
}

TEST(InsertBoundsChecks, NoticesItsSeededFault) {
  const Arrays buffers{
      {"P", loop::to_array<int64_t>(DType::Int64, {5})}, {"x", floats(5)}, {"y", floats(1)}};
  set_mutant("checks-off-by-one");
  const std::string error = run_checked(kGather, buffers, {{"n", 1}});
  set_mutant("");
  EXPECT_EQ(error, "");
  expect_report(run_checked(kGather, buffers, {{"n", 1}}), "x", 5, 5);
}

TEST(InsertBoundsChecks, PassesSizesThroughTheHostProgram) {
  const loop::HostProgram program = insert_bounds_checks(loop::parse_host_program(R"(
host h(A: f32*; n: i64) -> (C) {
  C = alloc f32[n + 1]
  launch fill
}

kernel fill(A: f32*, C: mut f32*; n: i64) {
  for i in [0, n + 1) {
    C[i] = A[0]
  }
})"));
  loop::verify(program);
  const std::string text = to_string(program);
  EXPECT_NE(text.find("host h(A: f32*; n: i64, A.size: i64) -> (C) {\n  let C.size: i64 = n + 1\n  "
                      "C = alloc f32[C.size]"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("kernel fill(A: f32*, C: mut f32*; n: i64, A.size: i64, C.size: i64)"),
            std::string::npos)
      << text;
  const auto result = loop::interpret(program, {{"A", floats(1)}}, {{"n", 3}, {"A.size", 1}});
  EXPECT_EQ(result.at("C").size(), 4);
}

}  // namespace
}  // namespace tulle::passes
