// Tests of number_rows: loops over the numbers of stored rows.
#include <gtest/gtest.h>

#include "schedule/nests.h"

namespace tulle::schedule {
namespace {

constexpr std::string_view kRows =
    "nest { operand A: f32, i32, dcsr\n operand B: f32\n result C: f32\n"
    "forall i { forall j { forall k { C[i,k] += A[i,j] * B[j,k] } } } }";

std::string nest_with(std::string_view declarations, std::string_view body) {
  return std::string("nest { ") + std::string(declarations) + "\n" + std::string(body) + " }";
}

TEST(NumberRows, CountsStoredRows) {
  EXPECT_EQ(body_after(kRows, "number_rows(i, r)"),
            "forall r { forall j { forall k { C[i,k] += A[i,j] * B[j,k] } } }");
}

TEST(NumberRows, MakesLoopsThatCanBeFusedAndBound) {
  EXPECT_EQ(body_after(kRows,
                       "number_rows(i, r); split(r, 4, rb, ri); split(k, 32, kp, kt); "
                       "reorder(rb, ri, kt, kp, j); fuse(ri, kt, t); bind(rb, block); "
                       "bind(t, thread)"),
            "forall rb block { forall t thread { forall kp { forall j { C[i,k] += A[i,j] * B[j,k] "
            "} } } }");
}

TEST(NumberRows, LetsLongRowsBeCut) {
  EXPECT_EQ(body_after(kRows, "number_rows(i, n); split_rows(n, 64, c, r)"),
            "forall c { forall r { forall j { forall k { C[i,k] += A[i,j] * B[j,k] } } } }");
}

TEST(NumberRows, RefusesRowsThatAreAllThere) {
  expect_refused(kSpmm, "number_rows(i, r)", "hold every coordinate of 'i'");
}

TEST(NumberRows, RefusesEntriesOfARow) {
  expect_refused(kRows, "number_rows(j, r)", "does not store 'j' first");
}

TEST(NumberRows, RefusesRowsOfTwoOperands) {
  expect_refused(nest_with("operand A: f32, i32, dcsr\n operand D: f32, i32, dcsr\n result C: f32",
                           "forall i { forall j { C[i,j] = A[i,j] * D[i,j] } }"),
                 "number_rows(i, r)", "walks over 'A' and 'D' together");
}

TEST(NumberRows, RefusesWhatHasTermsElsewhere) {
  expect_refused(nest_with("operand A: f32, i32, dcsr\n operand X: f32\n result C: f32",
                           "forall i { forall j { C[i,j] = A[i,j] + X[i,j] } }"),
                 "number_rows(i, r)", "has terms where 'A' has no entry");
}

TEST(NumberRows, LeavesRowsOfMaximaOut) {
  EXPECT_EQ(body_after(nest_with("operand A: f32, i32, dcsr\n result y: f32",
                                 "forall i { forall j { y[i] max= A[i,j] } }"),
                       "number_rows(i, r); precompute(acc, ())"),
            "forall r { where acc { y[i] = acc } producing { forall j { acc max= A[i,j] } } }");
}

TEST(NumberRows, RefusesSumsThatAMaximumIsTakenWith) {
  expect_refused(nest_with("operand A: f32, i32, dcsr\n result z: f32, onto y, by max, dense",
                           "forall i { forall j { z[i] += A[i,j] } }"),
                 "number_rows(i, r)", "'z' is combined by max=");
}

TEST(NumberRows, RefusesResultsThatAreBuilt) {
  expect_refused(nest_with("operand A: f32, i32, dcsr\n result C: f32, i32, dcsr",
                           "forall i { forall j { C[i,j] = A[i,j] } }"),
                 "number_rows(i, r)", "is built entry by entry");
}

TEST(NumberRows, IsWhatBlocksNeed) {
  expect_refused(kRows, "split_positions(i, 4, i0, i1); bind(i0, block)", "use number_rows");
}

TEST(NumberRows, RefusesPaddedRowsToBeCut) {
  expect_refused(nest_with("operand A: f32, i32, dell(4)\n result y: f32",
                           "forall i { forall j { y[i] += A[i,j] } }"),
                 "number_rows(i, n); split_rows(n, 64, c, r)", "so no row is long");
}

}  // namespace
}  // namespace tulle::schedule
