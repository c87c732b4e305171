// Every node prints to a text that parses back to the same tree, and to the same text.
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "loop/parse.h"
#include "loop/print.h"
#include "loop/same.h"
#include "support/check.h"

namespace tulle::loop {
namespace {

// One statement of a kernel in which these names are known.
std::string around(const std::string& stmt) {
  return "kernel k(A: f32*, D: f64*, P: mut i32*, L: mut i64*, H: bf16*, C: mut f32*; n: i64, m: "
         "i32, s: f32, d: f64, "
         "c: bool) {\n" +
         stmt + "}\n";
}

class StmtText : public testing::TestWithParam<const char*> {};

TEST_P(StmtText, ReadsBack) {
  const std::string text = around(GetParam());
  const Kernel kernel = parse_kernel(text);
  EXPECT_EQ(to_string(kernel), text);
  EXPECT_TRUE(same(parse_kernel(to_string(kernel)), kernel));
}

INSTANTIATE_TEST_SUITE_P(
    Stmts, StmtText,
    testing::Values("  let x: i64 = n + 1\n", "  var x: f32 = 0.0f\n  x = x + s\n", "  C[n] = s\n",
                    "  C[n if c] = s\n", "  nontemporal C[ramp(n, 1, 8)] = broadcast(s, 8)\n",
                    "  nontemporal C[ramp(n, 1, 8) if broadcast(c, 8)] = A[ramp(n, 1, 8)]\n",
                    "  {\n    let x: i64 = 3\n  }\n", "  {\n  }\n",
                    "  for i in [0, n) {\n    C[i] = A[i]\n  }\n",
                    "  for i in [n - 3, n) by 4 {\n  }\n", "  parallel for i in [0, n) {\n  }\n",
                    "  vector(16) for i in [0, n) {\n  }\n",
                    "  unrolled(4) for i in [0, n) {\n  }\n", "  unrolled for i in [0, 8) {\n  }\n",
                    "  block for b in [0, n) {\n    warp for warp in [0, 4) {\n      lane for lane "
                    "in [0, 32) {\n"
                    "        barrier(warp)\n      }\n    }\n  }\n",
                    "  block for b in [0, n) {\n    thread for thread in [0, 128) by 2 {\n      "
                    "barrier(block)\n    }\n  }\n",
                    "  while (n < 3) {\n    C[0] = s\n  }\n", "  if (c) {\n    C[0] = s\n  }\n",
                    "  if (c) {\n    C[0] = s\n  } else {\n    C[1] = s\n  }\n",
                    "  if (c) {\n  } else if (n == 3) {\n  } else if (n == 4) {\n  } else {\n    "
                    "C[1] = s\n  }\n",
                    "  if (c) {\n    if (n == 3) {\n    }\n  } else {\n    if (c) {\n    }\n  }\n",
                    "  w = alloc workspace f32[n * 2]\n", "  w = alloc zeroed workspace f64[n]\n",
                    "  w = alloc shared i32[256]\n  w[0] = m\n", "  w = alloc local i64[4]\n",
                    "  atomic_add(C[n], s)\n", "  atomic_max(P[n], m)\n",
                    "  let old: i32 = atomic_or(P[n], m)\n", "  prefetch(A[n + 64], 2)\n",
                    "  sort(P, 0, n)\n"));

class ExprText : public testing::TestWithParam<const char*> {};

TEST_P(ExprText, ReadsBack) {
  const std::string given = GetParam();
  const size_t colon = given.find(' ');
  const std::string text =
      around(concat("  let x: ", given.substr(0, colon), " = ", given.substr(colon + 1), "\n"));
  EXPECT_EQ(to_string(parse_kernel(text)), text);
}

INSTANTIATE_TEST_SUITE_P(
    Exprs, ExprText,
    testing::Values(
        "i64 3", "i64 -3", "i64 -9223372036854775808", "i64 9223372036854775807", "i32 3:i32",
        "i32 -2147483648:i32", "bool true", "bool false", "f32 0.5f", "f32 -0.0f", "f32 0.1f",
        "f32 1e-45f", "f32 3.4028235e+38f", "f32 1e+20f", "f64 0.1", "f64 5e-324",
        "f64 -1.7976931348623157e+308", "f64 1.0", "f32 inf:f32", "f64 -inf:f64", "f32 nan:f32",
        "bf16 0.5:bf16", "f16 -inf:f16", "i64 n - (n - 1)", "i64 n - n - 1", "i64 n * (n + 1)",
        "i64 n * n + 1", "i64 n / (n / 2)", "i64 n % 3 * 2", "i64 n - -3", "i64 -3 * n",
        "i64 min(n, 3)", "i64 max(min(n, 3), n + 1)", "bool n == 3", "bool n != 3", "bool n < 3",
        "bool n <= 3", "bool n > 3", "bool n >= 3", "bool c && n < 3 || c",
        "bool c && (n < 3 || c)", "bool n < 3 == c", "bool c == (n == 3)", "i64 n & 3 | n ^ 1",
        "i64 (n | 3) & 1", "i64 n << 2 + n", "i64 (n << 2) + n", "i64 n >> 2", "f32 s / s",
        "f32 s + (s + s)", "f32 neg(s)", "bool not(c)", "f32 abs(s)", "f32 sqrt(s)", "f32 floor(s)",
        "f32 ceil(s)", "f32 round(s)", "f32 trunc(s)", "f32 sin(s)", "f32 tan(s)", "f32 asin(s)",
        "f32 atan(s)", "f32 sinh(s)", "f32 tanh(s)", "f32 asinh(s)", "f32 atanh(s)", "f32 expm1(s)",
        "f32 log1p(s)", "f32 erf(s)", "f64 fma(d, D[n], 1.0)", "f32 select(c, s, 0.0f)",
        "f32x4 select(broadcast(c, 4), broadcast(s, 4), A[ramp(n, 2, 4)])", "i64 i64(m)",
        "i32 i32(n)", "f32 f32(H[n])", "f32x8 f32(D[ramp(n, 1, 8)])", "bool bool(m)", "f32 A[n]",
        "f32 A[i64(P[n])]", "f32 A[n if c]", "f32 A[n if n < 3 && c]",
        "f32x8 A[ramp(n, 1, 8) if broadcast(c, 8)]", "f32x8 A[ramp(n, 1, 8) + broadcast(n, 8)]",
        "i64x4 ramp(n, 3, 4)", "f32x16 broadcast(s, 16)",
        "f32 vector_reduce(add, A[ramp(n, 1, 8)])", "f32 vector_reduce(max, A[ramp(n, 1, 8)])",
        "f32 lane_reduce(add, s, 32)", "i64 lane_reduce(or, n, 8)", "f32 lane_reduce(mul, s, 4)",
        "f32 lane_shuffle(index, s, n, 32)", "f32 lane_shuffle(xor, s, 1:i32, 8)",
        "f32 lane_shuffle(up, s, n, 16)", "f32 lane_shuffle(down, s, n, 2)"));

TEST(RoundTrip, FloatsKeepTheirBits) {
  for (const double value :
       {0.1, 1.0 / 3.0, 1e-310, -0.0, 1e300, std::numeric_limits<double>::infinity(),
        std::numeric_limits<double>::quiet_NaN()}) {
    for (const DType type : {DType::Float32, DType::Float64, DType::BFloat16}) {
      const Kernel kernel{
          "k", {}, {}, Block::make({Let::make("x", FloatConst::make(value, {type, 1}))})};
      EXPECT_TRUE(same(parse_kernel(to_string(kernel)), kernel)) << to_string(kernel);
    }
  }
}

TEST(RoundTrip, BodyOfOneStatementEqualsItsBlock) {
  const Buffer c = make_buffer("C", DType::Int64);
  const Stmt store = Store::make(c, Var::make("i"), IntConst::make(1));
  const Kernel kernel{
      "k", {{c, true}}, {{"n", kIndex}}, For::make("i", IntConst::make(0), Var::make("n"), store)};
  EXPECT_TRUE(same(parse_kernel(to_string(kernel)), kernel)) << to_string(kernel);
}

TEST(RoundTrip, LoopsMayFollowBarriers) {
  const std::string text =
      "kernel k(C: mut f32*) {\n  block for b in [0, 1) {\n    thread for t in [0, 2) {\n"
      "      barrier(block)\n      for i in [0, 2) {\n        C[t] = 0.0f\n      }\n    }\n  "
      "}\n}\n";
  EXPECT_EQ(to_string(parse_kernel(text)), text);
}

TEST(RoundTrip, DifferentTreesDiffer) {
  const Kernel a = parse_kernel("kernel k(C: mut f32*) { C[0] = 0.0f }");
  EXPECT_FALSE(same(a, parse_kernel("kernel k(C: mut f32*) { C[0] = -0.0f }")));
  EXPECT_FALSE(same(a, parse_kernel("kernel k(C: mut f32*) { nontemporal C[0] = 0.0f }")));
  EXPECT_FALSE(same(a, parse_kernel("kernel k(C: f32*) { C[0] = 0.0f }")));
  EXPECT_FALSE(same(a, parse_kernel("kernel k(C: mut f32*) { C[0] = 0.0f C[0] = 0.0f }")));
}

constexpr const char* kHost =
    R"(host build(A_pos1: i32*, A: f32*, x: mut f32*; n: i64, s: f32) -> (C_pos1, C, x) {
  let twice: i64 = n * 2
  C_pos1 = alloc zeroed i32[n + 1]
  order = alloc i64[twice]
  launch count
  keep rows of A
  A_rows = alloc i32[n]
  kept A_rows
  scan C_pos1[0, n)
  let nnz: i32 = read C_pos1[n]
  sort order[0, twice) by A_pos1, C_pos1
  free order
  C = alloc f32[i64(nnz)]
  launch fill
}

kernel count(A_pos1: i32*, C_pos1: mut i32*; n: i64) {
  parallel for i in [0, n) {
    C_pos1[i] = A_pos1[i + 1] - A_pos1[i]
  }
}

kernel fill() {
}

kernel scalars_only(; n: i64, s: f32) {
}
)";

// Users' names may equal keywords and any other word of the language; names of the compiler have
// dots.
constexpr const char* kNames =
    R"(host program(let.pos1: i32*, .let: f32*, i64: i64*, host: f32*; for.extent: i64, .inf: f32, min: i64) -> (at, in, .read, free) {
  let .var: i64 = for.extent + min
  let let.count: i32 = read let.pos1[0]
  at = alloc f32[.var]
  let kept: i32 = read let.pos1[min] at most 3
  in = alloc zeroed f32[min(.var, min)]
  .read = alloc f32[i64(kept)]
  free = alloc i64[i64[0]]
  .alloc = alloc i64[.var]
  launch compute_let.sum0
  scan .alloc[0, .var)
  sort free[0, min) by let.pos1, .alloc
  keep rows of .let
  kept .alloc, free
  free .alloc
}

kernel compute_let.sum0(.let: f32*, at: mut f32*, i64: i64*, in: mut f32*, .read: mut f32*; .if: i64, .inf: f32, .true: bool) {
  .else = alloc local f32[8]
  parallel for .while in [0, .if) {
    var f32: f32 = .inf
    let .nan: i64 = i64[.while if .true] + i64(.true)
    .else[.nan] = .let[.nan] + inf:f32
    f32 = select(.true, f32, .else[0])
    vector(8) for vector in [0, 8) {
      nontemporal .read[vector] = f32
    }
    let .for: f32 = atomic_add(in[.while], f32)
    prefetch(.let[.nan], 1)
    at[.while] = .for
  }
}
)";

TEST(RoundTrip, AnyName) {
  const HostProgram program = parse_host_program(kNames);
  EXPECT_EQ(to_string(program), kNames);
  EXPECT_TRUE(same(parse_host_program(to_string(program)), program));
  EXPECT_EQ(program.buffers[0].buffer->name, "let.pos1");
  EXPECT_EQ(program.buffers[1].buffer->name, "let");
  EXPECT_EQ(program.kernels[0].scalars[2].name, "true");
}

TEST(RoundTrip, HostProgram) {
  const HostProgram program = parse_host_program(kHost);
  EXPECT_EQ(to_string(program), kHost);
  EXPECT_TRUE(same(parse_host_program(to_string(program)), program));
  EXPECT_EQ(program.results.size(), 3u);
  EXPECT_EQ(program.kernel("count").buffers.size(), 2u);
}

}  // namespace
}  // namespace tulle::loop
