// Tests of loops over differences of indices, which walk over diagonals.
#include <gtest/gtest.h>

#include "schedule/nests.h"

namespace tulle::schedule {
namespace {

// Diagonals times a dense matrix.
constexpr std::string_view kRows = R"(nest {
  operand A: f32, i32, dia
  operand B: f32
  result C: f32
  var j_i = j - i
  forall i { forall j_i { forall k { C[i,k] += A[i,j] * B[j,k] } } }
})";

// The sum of each column.
constexpr std::string_view kColumns = R"(nest {
  operand A: f32, i32, dia
  result y: f32
  var j_i = j - i
  forall i { forall j_i { y[j] += A[i,j] } }
})";

// A sum for each entry.
constexpr std::string_view kEntries = R"(nest {
  operand A: f32, i32, dia
  operand x: f32
  result S: f32, i32, like A, dia
  var j_i = j - i
  forall k { forall i { forall j_i { S[i,j] += A[i,j] * x[k] } } }
})";

TEST(Differences, AreReorderedUnrolledAndSummed) {
  EXPECT_EQ(body_after(kRows, "reorder(j_i, i); unroll(j_i, 2)"),
            "forall j_i unrolled(2) { forall i { forall k { C[i,k] += A[i,j] * B[j,k] } } }");
  EXPECT_EQ(body_after(kRows, "precompute(acc, k); unroll(j_i, 2)"),
            "forall i { where acc { forall k { C[i,k] = acc[k] } } producing { forall j_i "
            "unrolled(2) { forall k { acc[k] += A[i,j] * B[j,k] } } } }");
}

// Each matrix of a batch has its own diagonals.
TEST(Differences, StandInsideWhatIsStoredAboveThem) {
  constexpr std::string_view batch = R"(nest {
  operand A: f32, i32, dia
  result y: f32
  var j_i = j - i
  forall b { forall i { forall j_i { y[i] += A[b,i,j] } } }
})";
  EXPECT_EQ(body_after(batch, "reorder(b, j_i, i)"),
            "forall b { forall j_i { forall i { y[i] += A[b,i,j] } } }");
  expect_refused(batch, "reorder(i, j_i, b)", "the diagonals that 'A' stores for one 'b'");
}

TEST(Differences, AreNotCountedFromZero) {
  for (const char* step : {"split(j_i, 2, a, b)", "rfactor(j_i, part)"})
    expect_refused(kRows, step, "runs over the differences of 'j' and 'i' that are stored");
  expect_refused(kEntries, "precompute(acc, (i, j_i))", "some of them negative");
}

TEST(Differences, TieWhatIsSummedToTheResult) {
  for (const char* step : {"precompute(acc, j_i)", "rfactor(i, part)"})
    expect_refused(kColumns, step, "'j_i' is the difference of 'j', an index of 'y', and 'i'");
}

}  // namespace
}  // namespace tulle::schedule
