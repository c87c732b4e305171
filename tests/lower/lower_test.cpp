// The text of a few lowered nests.
#include "lower/lower.h"

#include <gtest/gtest.h>

#include "loop/interpret.h"
#include "loop/parse.h"
#include "loop/print.h"
#include "lower/programs/free_temporaries.h"
#include "nest/parse.h"
#include "tulle/error.h"

namespace tulle::lower {
namespace {

std::string lowered(std::string_view text) {
  loop::HostProgram program;
  program.name = "program";
  lower_nest(nest::parse_nest(text), {}, program);
  return loop::to_string(program);
}

void expect_parts(const std::string& text, const std::vector<std::string>& parts) {
  size_t from = 0;
  for (const std::string& part : parts) {
    const size_t at = text.find(part, from);
    ASSERT_NE(at, std::string::npos) << part << "\nin\n" << text;
    from = at + part.size();
  }
}

TEST(Lower, WalksTheEntriesOfARow) {
  const std::string text = lowered(R"(nest {
    operand A: f32, i32, csr
    operand x: f32
    result y: f32
    forall i { forall j { y[i] += A[i,j] * x[j] } }
  })");
  expect_parts(text, {"y = alloc zeroed f32[i.extent]", "launch compute_y",
                      "for i in [first, last)", "A.pos1[i]", "A.pos1[i + 1]",
                      "for A_p1 in [p, p_end)", "A.crd1[A_p1]", "y[i] = y[i] + "});
}

TEST(Lower, CountsScansAndFillsASparseResult) {
  const std::string text = lowered(R"(nest {
    operand A: f32, i32, csr
    operand B: f32, i32, csr
    result C: f32, i32, csr
    forall i { forall j { C[i,j] = A[i,j] * B[i,j] } }
  })");
  expect_parts(text,
               {"launch count_C", "scan C.entries0", "read C.entries0[C.chunks] at most 2147483647",
                "C.pos1 = alloc i32[i.extent + 1]", "C.crd1 = alloc i32[C.total0]", "launch fill_C",
                "kernel count_C", "kernel fill_C"});
}

TEST(Lower, LongIndicesCountWithoutLimit) {
  const std::string text = lowered(R"(nest {
    operand A: f32, i64, csr
    operand B: f32, i64, csr
    result C: f32, i64, csr
    forall i { forall j { C[i,j] = A[i,j] * B[i,j] } }
  })");
  EXPECT_EQ(text.find("at most"), std::string::npos) << text;
}

TEST(Lower, SharesAPattern) {
  const std::string text = lowered(R"(nest {
    operand A: f32, i32, csr
    operand d: f32
    result C: f32, i32, like A, csr
    forall i { forall j { C[i,j] = A[i,j] * d[i] } }
  })");
  expect_parts(text, {"f32[A.count]", "launch compute_C", "C[A_p1] = "});
  EXPECT_EQ(text.find("C.crd1"), std::string::npos) << text;
}

TEST(Lower, SearchesWhereAnotherLoopBoundTheCoordinate) {
  const std::string text = lowered(R"(nest {
    operand A: f32, i32, csr
    result d: f32
    forall i { d[i] = A[i,i] }
  })");
  expect_parts(text, {"d = alloc zeroed", "while (low < high", "found"});
}

TEST(Lower, FreesWhatIsNoResultAfterItsLastUse) {
  loop::HostProgram program = loop::parse_host_program(R"(
host program(; n: i64) -> (C) {
  t = alloc zeroed i64[n + 1]
  scan t[0, n)
  let total: i64 = read t[n]
  C = alloc zeroed f32[total]
  let more: i64 = total
})");
  free_temporaries(program);
  expect_parts(loop::to_string(program), {"read t[n]", "free t", "C = alloc"});
  EXPECT_EQ(loop::to_string(program).find("free C"), std::string::npos);
}

TEST(Lower, MoreEntriesThanIndicesCountAreRefused) {
  const loop::HostProgram program = loop::parse_host_program(R"(
host program(counts: i64*) -> () {
  let total: i64 = read counts[0] at most 2147483647
})");
  EXPECT_NO_THROW(loop::interpret(
      program, {{"counts", loop::to_array<int64_t>(DType::Int64, {INT32_MAX})}}, {}));
  const int64_t too_many = int64_t{INT32_MAX} + 1;
  EXPECT_THROW(
      loop::interpret(program, {{"counts", loop::to_array<int64_t>(DType::Int64, {too_many})}}, {}),
      UserError);
}

}  // namespace
}  // namespace tulle::lower
