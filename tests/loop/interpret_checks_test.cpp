// Faults that the interpreter detects: races, out-of-bounds accesses, uninitialised memory, endless
// loops.
#include <gtest/gtest.h>

#include "loop/interpret.h"
#include "loop/parse.h"
#include "support/check.h"

namespace tulle::loop {
namespace {

// Runs the kernel's body on A (i64, 0 to 63, read only), C (i64, 64 zeros) and U (i64, 64 elements
// never written), with n = 64.
std::vector<int64_t> run(const std::string& body) {
  const std::string text = concat(
      "host h(A: i64*, C: mut i64*; n: i64) -> (C) { U = alloc i64[n] launch k }\n"
      "kernel k(A: i64*, C: mut i64*, U: mut i64*; n: i64) {",
      body, "}");
  std::vector<int64_t> a(64);
  for (int64_t i = 0; i < 64; ++i) a[i] = i;
  const Arrays results = interpret(
      parse_host_program(text),
      {{"A", to_array(DType::Int64, a)}, {"C", to_array(DType::Int64, std::vector<int64_t>(64))}},
      {{"n", 64}});
  return to_vector<int64_t>(results.at("C"));
}

void expect_error(const std::string& body, const std::string& message) {
  try {
    run(body);
    FAIL() << "ran without an error: " << body;
  } catch (const InternalError& error) {
    EXPECT_NE(std::string(error.what()).find(message), std::string::npos) << error.what();
  }
}

TEST(InterpretChecks, OutOfBoundsNamesKernelBufferIndexAndSize) {
  expect_error("C[n] = 1", "kernel k: C[64] is out of bounds, the size is 64");
  expect_error("C[0] = A[-1]", "kernel k: A[-1] is out of bounds, the size is 64");
  expect_error("let x: i64x4 = A[ramp(n - 3, 1, 4)]", "A[64] is out of bounds");
  expect_error("w = alloc local i64[4] w[4] = 1", "w[4] is out of bounds, the size is 4");
  expect_error("report_out_of_bounds(C, 70, 64)", "C[70] is out of bounds, the size is 64");
}

TEST(InterpretChecks, PredicatedLanesAreNotTouched) {
  const auto c =
      run("let p: boolx4 = ramp(n - 3, 1, 4) < broadcast(n, 4)\n"
          "C[ramp(n - 3, 1, 4) if p] = A[ramp(n - 3, 1, 4) if p] + broadcast(1, 4)");
  EXPECT_EQ(c[61], 62);
  EXPECT_EQ(c[63], 64);
}

TEST(InterpretChecks, ScalarLogicAndSelectEvaluateOnlyWhatIsNeeded) {
  EXPECT_EQ(run("C[0] = i64(n < 64 && A[n] == 3)")[0], 0);
  EXPECT_EQ(run("C[0] = i64(n >= 64 || A[n] == 3)")[0], 1);
  EXPECT_EQ(run("C[0] = select(n < 64, A[n], 7)")[0], 7);
  expect_error("C[0] = i64(n >= 64 && A[n] == 3)", "A[64] is out of bounds");
  const auto c = run(
      "block for b in [0, 1) { thread for t in [0, 64) { C[t] = select(t < 63, A[t + 1], 0) } }");
  EXPECT_EQ(c[62], 63);
  EXPECT_EQ(c[63], 0);
}

TEST(InterpretChecks, UninitialisedMemory) {
  expect_error("C[0] = U[3]", "U[3] of 64 is read before it is written");
  expect_error("w = alloc workspace i64[n] w[0] = 1 C[0] = w[1]",
               "w[1] of 64 is read before it is written");
  expect_error(
      "for i in [0, 2) { w = alloc workspace i64[2] if (i == 1) { C[0] = w[0] } w[0] = 1 }",
      "read before");
  EXPECT_EQ(run("w = alloc zeroed workspace i64[n] C[0] = w[1]")[0], 0);
  EXPECT_EQ(run("U[3] = 5 C[0] = U[3]")[0], 5);
}

TEST(InterpretChecks, ResultNeverWritten) {
  const auto program = parse_host_program("host h(; n: i64) -> (R) { R = alloc f32[n] }");
  EXPECT_THROW(interpret(program, {}, {{"n", 3}}), InternalError);
  EXPECT_EQ(interpret(program, {}, {{"n", 0}}).at("R").size(), 0);
}

TEST(InterpretChecks, NegativeAllocation) {
  expect_error("w = alloc workspace i64[n - 65]", "allocation of w with -1");
}

TEST(InterpretChecks, LoopWithoutEnd) {
  const auto program = parse_host_program(
      "host h(; n: i64) -> () { launch k } kernel k(; n: i64) { var x: i64 = 0 while (x < n) { x = "
      "0 } }");
  EXPECT_THROW(interpret(program, {}, {{"n", 3}}, {.most_steps = 1000}), InternalError);
}

TEST(InterpretChecks, RacesBetweenIterations) {
  expect_error("parallel for i in [0, n) { C[0] = i }", "C[0] of 64: race: written");
  expect_error("parallel for i in [0, n - 1) { C[i + 1] = C[i] }", "race: read");
  expect_error("parallel for i in [1, n) { C[i - 1] = C[i] }", "race: written");
  expect_error("parallel for i in [0, n) { C[i / 2] = C[i / 2] + 1 }", "race");
  expect_error("let first: i64 = C[0] parallel for i in [0, n) { C[i] = first }", "race");
  expect_error("parallel for i in [0, n) { atomic_add(C[0], i) C[1 + i / 2] = 1 }",
               "C[1] of 64: race");
  expect_error("parallel for i in [0, n) { atomic_add(C[0], i) if (i == 9) { C[1] = C[0] } }",
               "changed atomically");
}

TEST(InterpretChecks, NoRaces) {
  EXPECT_EQ(run("parallel for i in [0, n) { C[i] = A[i] C[i] = C[i] + A[0] }")[5], 5);
  EXPECT_EQ(run("parallel for i in [0, n) { atomic_add(C[i / 32], A[i]) }")[0], 31 * 32 / 2);
  EXPECT_EQ(run("for i in [0, n) { C[0] = C[0] + i }")[0], 63 * 32);
  EXPECT_EQ(run("parallel for i in [0, n) { w = alloc workspace i64[1] w[0] = i C[i] = w[0] }")[7],
            7);
}

TEST(InterpretChecks, RacesBetweenBlocks) {
  expect_error("block for b in [0, 2) { thread for t in [0, 32) { C[t] = b } }",
               "race: written by block 1, thread 0");
  EXPECT_EQ(run("block for b in [0, 2) { thread for t in [0, 32) { C[b * 32 + t] = b } }")[33], 1);
}

TEST(InterpretChecks, RacesBetweenThreads) {
  expect_error("block for b in [0, 1) { thread for t in [0, 64) { C[t / 2] = t } }", "race");
  expect_error(
      "block for b in [0, 1) { s = alloc shared i64[64] thread for t in [0, 64) { s[t] = t C[t] = "
      "s[63 - t] } }",
      "s[63] of 64: race: read");
  EXPECT_EQ(run("block for b in [0, 1) { s = alloc shared i64[64] thread for t in [0, 64) "
                "{ s[t] = t barrier(block) C[t] = s[63 - t] } }")[0],
            63);
  EXPECT_EQ(
      run("block for b in [0, 1) { s = alloc shared i64[64] thread for t in [0, 64) { s[t] = t } "
          "barrier(block) thread for t in [0, 64) { C[t] = s[63 - t] } }")[1],
      62);
  expect_error(
      "block for b in [0, 1) { s = alloc shared i64[64] thread for t in [0, 64) { s[t] = t "
      "barrier(block) "
      "C[t] = s[63 - t] s[t] = 0 } }",
      "race: written");
}

TEST(InterpretChecks, WarpBarrierOrdersWithinAWarpOnly) {
  EXPECT_EQ(run("block for b in [0, 1) { s = alloc shared i64[64] warp for w in [0, 2) { lane for "
                "l in [0, 32) { "
                "s[w * 32 + l] = l barrier(warp) C[w * 32 + l] = s[w * 32 + 31 - l] } } }")[32],
            31);
  expect_error(
      "block for b in [0, 1) { s = alloc shared i64[64] warp for w in [0, 2) { lane for l in [0, "
      "32) { "
      "s[w * 32 + l] = l barrier(warp) C[w * 32 + l] = s[32 - w * 32 + l] } } }",
      "race: read");
}

TEST(InterpretChecks, LaneOperations) {
  const std::string open = "block for b in [0, 1) { thread for t in [0, 64) { C[t] = ";
  EXPECT_EQ(run(open + "lane_reduce(add, t, 32) } }")[40], 32 * 32 + 31 * 16);
  EXPECT_EQ(run(open + "lane_reduce(max, t, 4) } }")[5], 7);
  EXPECT_EQ(run(open + "lane_shuffle(xor, t, 1, 32) } }")[6], 7);
  EXPECT_EQ(run(open + "lane_shuffle(down, t, 3, 8) } }")[6], 6);
  EXPECT_EQ(run(open + "lane_shuffle(down, t, 3, 8) } }")[4], 7);
  EXPECT_EQ(run(open + "lane_shuffle(up, t, 1, 8) } }")[8], 8);
  EXPECT_EQ(run(open + "lane_shuffle(index, t, 2, 16) } }")[20], 18);
}

TEST(InterpretChecks, DivergentThreadsKeepTheirOwnValues) {
  const auto c =
      run("block for b in [0, 1) { thread for t in [0, 64) { var x: i64 = t var steps: i64 = 0 "
          "while (x > 0) { x = x / 2 steps = steps + 1 } "
          "if (t % 2 == 0) { for i in [0, t) { steps = steps + 1 } } else { steps = neg(steps) } "
          "C[t] = steps } }");
  EXPECT_EQ(c[0], 0);
  EXPECT_EQ(c[5], -3);
  EXPECT_EQ(c[8], 4 + 8);
}

TEST(InterpretChecks, AtomicHandsBackTheOldValue) {
  const auto c =
      run("block for b in [0, 1) { thread for t in [0, 32) { let old: i64 = atomic_add(C[63], 1) "
          "C[old] = 7 } }");
  for (int i = 0; i < 32; ++i) EXPECT_EQ(c[i], 7);
  EXPECT_EQ(c[63], 32);
}

TEST(InterpretChecks, SortInKernel) {
  EXPECT_EQ(run("for i in [0, n) { C[i] = n - i } sort(C, 8, n)")[8], 1);
  expect_error("sort(C, 0, n + 1)", "C[64] is out of bounds");
}

TEST(InterpretChecks, LoopsLeftForPassesRunInOrder) {
  EXPECT_EQ(run("unrolled for i in [0, 8) { vector(4) for j in [0, 5) { C[i] = C[i] + j } }")[7],
            10);
  EXPECT_EQ(run("unrolled(4) for i in [1, n) by 3 { C[i] = i }")[61], 61);
}

// --- steps of the host program ---

TEST(InterpretHost, SortKeepsTheOrderOfEqualKeys) {
  const auto program = parse_host_program(
      "host h(row: i32*, column: i64*; n: i64) -> (order) { order = alloc i64[n] sort order[0, n) "
      "by row, column }");
  const Arrays results =
      interpret(program,
                {{"row", to_array(DType::Int32, std::vector<int32_t>{2, 0, 2, 0, 1})},
                 {"column", to_array(DType::Int64, std::vector<int64_t>{5, 7, 1, 7, 0})}},
                {{"n", 5}});
  EXPECT_EQ(to_vector<int64_t>(results.at("order")), (std::vector<int64_t>{1, 3, 4, 2, 0}));
}

TEST(InterpretHost, ScanAndRead) {
  const auto program = parse_host_program(
      "host h(pos: mut i32*; n: i64) -> (C) { scan pos[0, n) let total: i32 = read pos[n] "
      "let twice: i64 = i64(total) * 2 C = alloc zeroed f64[twice] free_me = alloc i64[n] free "
      "free_me }");
  const Arrays results = interpret(
      program, {{"pos", to_array(DType::Int32, std::vector<int32_t>{3, 0, 4, -1})}}, {{"n", 3}});
  EXPECT_EQ(to_vector<int32_t>(results.at("pos")), (std::vector<int32_t>{0, 3, 3, 7}));
  EXPECT_EQ(results.at("C").size(), 14);
}

TEST(InterpretHost, ScanBeyondTheBuffer) {
  const auto program = parse_host_program("host h(pos: mut i32*; n: i64) -> () { scan pos[0, n) }");
  EXPECT_THROW(
      interpret(program, {{"pos", to_array(DType::Int32, std::vector<int32_t>{1, 2})}}, {{"n", 2}}),
      InternalError);
}

TEST(InterpretHost, WrongInputs) {
  const auto program = parse_host_program("host h(A: f32*; n: i64) -> (A) { }");
  const Array a = to_array(DType::Float32, std::vector<float>{1});
  EXPECT_THROW(interpret(program, {}, {{"n", 2}}), UserError);
  EXPECT_THROW(interpret(program, {{"A", a}}, {}), UserError);
  EXPECT_THROW(interpret(program, {{"A", a}}, {{"n", 0.5}}), UserError);
  EXPECT_THROW(
      interpret(program, {{"A", to_array(DType::Int32, std::vector<int32_t>{1})}}, {{"n", 2}}),
      UserError);
  EXPECT_EQ(to_vector<float>(interpret(program, {{"A", a}}, {{"n", 2}}).at("A")),
            std::vector<float>{1});
}

}  // namespace
}  // namespace tulle::loop
