// Programs that the verifier rejects, one fault per case, and programs that it accepts.
#include "loop/verify.h"

#include <gtest/gtest.h>

#include "loop/parse.h"
#include "support/check.h"

namespace tulle::loop {
namespace {

Kernel kernel_of(const std::string& body) {
  return parse_kernel(
      concat("kernel k(A: f32*, P: mut i32*, C: mut f32*; n: i64, m: i32, s: f32, c: bool) {\n",
             body, "\n}"));
}

template <typename Program>
void expect_refused(const Program& program, const std::string& message) {
  try {
    verify(program);
    FAIL() << "accepted, expected: " << message;
  } catch (const InternalError& error) {
    EXPECT_NE(std::string(error.what()).find(message), std::string::npos) << error.what();
  }
}

struct Mistake {
  const char* body;
  const char* message;
};

class Refused : public testing::TestWithParam<Mistake> {};

TEST_P(Refused, Kernel) { expect_refused(kernel_of(GetParam().body), GetParam().message); }

INSTANTIATE_TEST_SUITE_P(
    Names, Refused,
    testing::Values(
        Mistake{"let n: i64 = 3", "'n' is declared while the name is taken\n  in: let n: i64 = 3"},
        Mistake{"let x: i64 = 3 let x: i64 = 4", "'x' is declared while the name is taken"},
        Mistake{"let x: i64 = 3 if (c) { let x: i64 = 4 }",
                "'x' is declared while the name is taken"},
        Mistake{"for n in [0, 3) { }", "'n' is declared while the name is taken"},
        Mistake{"A = alloc workspace f32[3]", "'A' is declared while the name is taken"},
        Mistake{"let x: i64 = 3 x = 4", "'x' is not declared with var"},
        Mistake{"for i in [0, n) { i = 4 }", "'i' is not declared with var"},
        Mistake{"n = 4", "'n' is not declared with var"},
        Mistake{"A[0] = s", "'A' is not a mut parameter"},
        Mistake{"atomic_add(A[0], s)", "'A' is not a mut parameter"}));

INSTANTIATE_TEST_SUITE_P(
    Types, Refused,
    testing::Values(Mistake{"let x: bool = c - c", "not an operator of bool: c - c"},
                    Mistake{"let x: f32 = s % s", "not an operator of f32: s % s"},
                    Mistake{"let x: f32 = s & s", "not an operator of f32: s & s"},
                    Mistake{"let x: i64 = sqrt(n)", "not a function of i64: sqrt(n)"},
                    Mistake{"let x: f32 = not(s)", "not a function of f32"},
                    Mistake{"let x: f64 = exp2(f64(s))", "not a function of f64: exp2(f64(s))"},
                    Mistake{"let x: f32 = vector_reduce(add, s)", "a reduction of a scalar"},
                    Mistake{"let x: f32 = vector_reduce(or, broadcast(s, 4))",
                            "not a reduction of f32"},
                    Mistake{"atomic_or(C[0], s)", "atomic_or of f32"},
                    Mistake{"sort(C, 0, n)", "sort takes integers"},
                    Mistake{"sort(P, 0)", "sort takes a buffer and two numbers"},
                    Mistake{"vector for i in [0, n) { }", "a vector loop without lanes"},
                    Mistake{"unrolled for i in [0, n) { }", "constant bounds"},
                    Mistake{"w = alloc local f32[n]", "local memory needs a constant size"}));

INSTANTIATE_TEST_SUITE_P(
    Parallel, Refused,
    testing::Values(
        Mistake{"for i in [0, n) { parallel for j in [0, n) { } }", "must be the last statement"},
        Mistake{"if (c) { parallel for j in [0, n) { } }", "must be the last statement"},
        Mistake{"C[0] = s parallel for j in [0, n) { }", "must be the last statement"},
        Mistake{"parallel for j in [0, n) { } C[0] = s", "must be the last statement"},
        Mistake{"parallel for i in [0, n) { parallel for j in [0, n) { } }",
                "a second parallel or block loop"},
        Mistake{"{ parallel for i in [0, n) { } } { block for j in [0, n) { } }",
                "a second parallel or block loop"},
        Mistake{"parallel for i in [0, n) { barrier(block) }", "a barrier outside of a block loop"},
        Mistake{"parallel for i in [0, n) { w = alloc shared f32[3] }",
                "shared memory outside of a block loop"},
        Mistake{"parallel for i in [0, n) { C[i] = lane_reduce(add, s, 4) }",
                "a lane operation outside of a block loop"}));

INSTANTIATE_TEST_SUITE_P(
    Gpu, Refused,
    testing::Values(
        Mistake{"thread for t in [0, 32) { }", "a thread loop outside of a block loop"},
        Mistake{"parallel for i in [0, n) { warp for t in [0, 2) { } }",
                "a warp loop outside of a block loop"},
        Mistake{"block for b in [0, n) { lane for l in [0, 32) { } }",
                "a lane loop outside of a warp loop"},
        Mistake{"block for b in [0, n) { thread for t in [0, 64) { lane for l in [0, 32) { } } }",
                "a lane loop inside a thread loop"},
        Mistake{"block for b in [0, n) { warp for w in [0, 2) { warp for v in [0, 2) { } } }",
                "a warp loop inside a warp loop"},
        Mistake{"block for b in [0, n) { thread for t in [0, n) { } }",
                "a thread loop needs constant bounds"},
        Mistake{"block for b in [0, n) { thread for t in [0, 2048) { } }",
                "a thread loop of more than 1024"},
        Mistake{"block for b in [0, n) { warp for w in [0, 2) { lane for l in [0, 64) { } } }",
                "a lane loop of more than 32"},
        Mistake{"block for b in [0, n) { w = alloc workspace f32[3] }",
                "a workspace in a kernel for the GPU"},
        Mistake{"block for b in [0, n) { thread for t in [0, 64) { w = alloc shared f32[3] } }",
                "shared memory inside a thread loop"},
        Mistake{"block for b in [0, n) { thread for t in [0, 64) { } C[b] = s }",
                "outside of a lane or thread loop"},
        Mistake{
            "block for b in [0, n) { warp for w in [0, 2) { C[w] = s lane for l in [0, 32) { } } }",
            "outside of a lane or thread loop"},
        Mistake{
            "block for b in [0, n) { thread for t in [0, 64) { if (t < 3) { barrier(block) } } }",
            "a barrier that some of its threads may not reach\n  in: barrier(block)"},
        Mistake{"block for b in [0, n) { thread for t in [0, 64) { if (t / 32 < 1) { "
                "barrier(block) } } }",
                "a barrier that some of its threads may not reach"},
        Mistake{"block for b in [0, n) { thread for t in [0, 64) { if (t / 8 < 1) { barrier(warp) "
                "} } }",
                "a barrier that some of its threads may not reach"},
        Mistake{"block for b in [0, n) { thread for t in [0, 64) { } thread for t in [0, 48) { "
                "barrier(block) } }",
                "a barrier that some of its threads may not reach"},
        Mistake{
            "block for b in [0, n) { warp for w in [0, 2) { for i in [0, w) { barrier(block) } } }",
            "a barrier that some of its threads may not reach"},
        Mistake{"block for b in [0, n) { thread for t in [0, 64) { for i in [0, t) { barrier(warp) "
                "} } }",
                "a barrier that some of its threads may not reach"},
        Mistake{
            "block for b in [0, n) { thread for t in [0, 64) { var x: i64 = 0 if (t < 3) { x = 1 } "
            "if (x == 0) { barrier(block) } } }",
            "a barrier that some of its threads may not reach"},
        Mistake{"block for b in [0, n) { thread for t in [0, 64) { var x: i64 = 0 while (x < 3) { "
                "barrier(block) "
                "x = x + t } } }",
                "a barrier that some of its threads may not reach"},
        Mistake{"block for b in [0, n) { thread for t in [0, 64) { if (A[t] > s) { let x: f32 = "
                "lane_reduce(add, s, 32) } } }",
                "a lane operation that some of its lanes may not reach: lane_reduce(add, s, 32)"},
        Mistake{"block for b in [0, n) { thread for t in [0, 64) { if (t / 8 < n) { let x: f32 = "
                "lane_reduce(add, s, 16) } } }",
                "a lane operation that some of its lanes may not reach"},
        Mistake{"block for b in [0, n) { thread for t in [0, 64) { let x: f32 = select(t < 3, "
                "lane_reduce(add, s, 32), s) } }",
                "a lane operation that some of its lanes may not reach"},
        Mistake{"block for b in [0, n) { thread for t in [0, 64) { if (t < 3 && lane_reduce(add, "
                "t, 32) > 0) { } } }",
                "a lane operation that some of its lanes may not reach"},
        Mistake{"block for b in [0, n) { thread for t in [0, 24) { let x: f32 = lane_reduce(add, "
                "s, 16) } }",
                "a group of 16 lanes in a block of 24"},
        Mistake{
            "block for b in [0, n) { thread for t in [0, 64) { let old: i32 = atomic_add(P[0], m) "
            "if (old == 0:i32) { barrier(block) } } }",
            "a barrier that some of its threads may not reach"}));

class Accepted : public testing::TestWithParam<const char*> {};

TEST_P(Accepted, Kernel) { EXPECT_NO_THROW(verify(kernel_of(GetParam()))); }

INSTANTIATE_TEST_SUITE_P(
    Kernels, Accepted,
    testing::Values(
        "if (c) { let x: i64 = 3 } else { let x: i64 = 4 }",
        "let x: i64 = n * 2 parallel for i in [0, x) { w = alloc workspace f32[x] w[0] = s }",
        "let x: i64 = n { let y: i64 = x parallel for i in [0, y) { } }",
        "block for b in [0, n) { C[b] = s }",
        "block for b in [0, n) { if (A[b] > s) { thread for t in [0, 64) { barrier(block) } } }",
        "block for b in [0, n) { thread for t in [0, 64) { let x: f32 = lane_reduce(max, A[t], 32) "
        "if (x > s) { barrier(warp) } } }",
        "block for b in [0, n) { thread for t in [0, 64) { if (b * 8 + t / 8 < n) { C[t] = "
        "lane_reduce(add, s, 8) } } }",
        "block for b in [0, n) { thread for t in [0, 64) { if (t >> 3 < n) { C[t] = "
        "lane_reduce(add, s, 8) } } }",
        "block for b in [0, n) { warp for w in [0, 4) { lane for l in [0, 8) { C[l] = "
        "lane_reduce(add, s, 8) } } }",
        "block for b in [0, n) { warp for w in [0, 4) { var x: i64 = w while (x < n) { "
        "barrier(warp) x = x + 4 } } }",
        "block for b in [0, n) { w = alloc shared f32[64] for i in [0, n) { thread for t in [0, "
        "64) { w[t] = s } "
        "barrier(block) } }"));

struct HostMistake {
  const char* text;
  const char* message;
};

class HostRefused : public testing::TestWithParam<HostMistake> {};

TEST_P(HostRefused, Program) {
  expect_refused(parse_host_program(GetParam().text), GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(
    Hosts, HostRefused,
    testing::Values(
        HostMistake{"host h(; n: i64) -> () { launch k }", "host program h has no kernel k"},
        HostMistake{"host h(; n: i64) -> () { launch k } kernel k(A: f32*) { }",
                    "'A' is not declared\n  in: launch k"},
        HostMistake{"host h(A: f64*) -> () { launch k } kernel k(A: f32*) { }",
                    "'A' is global f64, used as global f32"},
        HostMistake{"host h(A: f32*) -> () { launch k } kernel k(A: mut f32*) { }",
                    "'A' is not a mut parameter"},
        HostMistake{"host h(; n: i32) -> () { launch k } kernel k(; n: i64) { }",
                    "declared as i32, used as i64"},
        HostMistake{"host h(; n: i64) -> () { launch k A = alloc f32[n] } kernel k(A: f32*) { }",
                    "'A' is not declared"},
        HostMistake{
            "host h(; n: i64) -> () { A = alloc f32[n] free A launch k } kernel k(A: f32*) { }",
            "'A' is not declared"},
        HostMistake{"host h(; n: i64) -> (A) { A = alloc f32[n] free A }", "'A' is not declared"},
        HostMistake{"host h(A: f32*) -> () { free A }", "a parameter is freed"},
        HostMistake{"host h(; n: i64) -> () { let n: i64 = 3 }",
                    "'n' is declared while the name is taken"},
        HostMistake{"host h(A: i64*; n: i64) -> () { let x: i64 = A[0] }",
                    "the host computes with scalars only: A[0]"},
        HostMistake{"host h(A: mut f32*; n: i64) -> () { scan A[0, n) }",
                    "'A' does not hold integers"},
        HostMistake{"host h(; n: i64) -> () { keep rows of A }", "a keep without its kept"},
        HostMistake{"host h(; n: i64) -> () { R = alloc i32[n] kept R }",
                    "a kept without its keep"},
        HostMistake{"host h(; n: i64) -> () { keep r of A R = alloc i32[n] keep s of A }",
                    "a keep inside another"},
        HostMistake{"host h(; n: i64) -> () { R = alloc i32[n] keep r of A kept R }",
                    "'R' is kept but not made"},
        HostMistake{
            "host h(; n: i64) -> () { keep r of A R = alloc i32[n] Q = alloc i32[n] kept R }",
            "'Q' is made but not kept"},
        HostMistake{
            "host h(A: i32*; n: i64) -> () { keep r of A R = alloc i32[n] let m: i32 = read "
            "A[n] kept R }",
            "steps between keep and kept read a number back"},
        HostMistake{
            "host h(A: mut f32*; n: i64) -> () { keep r of A R = alloc i32[n] launch k kept R "
            "} kernel k(A: mut f32*) { A[0] = 1.0f }",
            "steps between keep and kept change the parameter 'A'"},
        HostMistake{"host h(A: i32*; n: i64) -> () { scan A[0, n) }", "'A' is not a mut parameter"},
        HostMistake{"host h(A: mut i32*; n: i64) -> () { sort A[0, n) by A }",
                    "the order 'A' is not i64"},
        HostMistake{"host h() -> () { } kernel k() { } kernel k() { }",
                    "two kernels are called k"}));

TEST(Verify, VariableOfAnotherType) {
  const Buffer c = make_buffer("C", DType::Int64);
  const Kernel kernel{"k",
                      {{c, true}},
                      {{"n", {DType::Int32, 1}}},
                      Store::make(c, IntConst::make(0), Var::make("n", kIndex))};
  expect_refused(kernel, "declared as i32, used as i64: n\n  in: C[0] = n");
}

TEST(Verify, BufferOfAnotherSpace) {
  const Buffer c = make_buffer("C", DType::Int64);
  const Kernel kernel{"k",
                      {{c, true}},
                      {},
                      Store::make(make_buffer("C", DType::Int64, Space::Shared), IntConst::make(0),
                                  IntConst::make(0))};
  expect_refused(kernel, "'C' is global i64, used as shared i64");
}

TEST(Verify, NameOutOfItsScope) {
  const Kernel kernel{"k",
                      {},
                      {},
                      Block::make({Block::make({Let::make("x", IntConst::make(3))}),
                                   Let::make("y", Var::make("x"))})};
  expect_refused(kernel, "'x' is not declared");
}

TEST(Verify, Names) {
  const auto kernel_with = [](const std::string& name) {
    return Kernel{"k", {}, {}, Let::make(name, IntConst::make(3))};
  };
  for (const char* name : {"3", ".x", "x.", "x..y", "x y", "x-y", "$x"})
    expect_refused(kernel_with(name), concat("'", name, "' cannot be a name"));
  for (const char* name : {"while", "A.pos1", "j.1", "_"}) verify(kernel_with(name));
}

TEST(Verify, ConstantThatDoesNotFit) {
  const Expr large = IntConst::make(int64_t{1} << 40, {DType::Int32, 1});
  expect_refused(Kernel{"k", {}, {}, Let::make("x", large)}, "the value exceeds i32");
}

}  // namespace
}  // namespace tulle::loop
