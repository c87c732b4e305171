// The merge lattice of small cases.
#include "lower/lattice.h"

#include <gtest/gtest.h>

#include "nest/parse.h"

namespace tulle::lower {
namespace {

// The points of a merge of all operands over one variable; accesses are numbered left to right.
std::vector<AccessSet> points_of(const std::string& value, const AccessSet& iterating,
                                 const AccessSet& absent = {}) {
  const nest::Nest nest = nest::parse_nest(R"(nest {
    operand A: f32, (i) -> (i: compressed)
    operand B: f32, (i) -> (i: compressed)
    operand C: f32, (i) -> (i: compressed)
    operand d: f32, (i) -> (i: dense)
    result R: f32, (i) -> (i: compressed)
    forall i { R[i] = )" + value + " }\n}");
  return lattice_points(nest.root.as<nest::Forall>()->body, iterating, absent);
}

using Points = std::vector<AccessSet>;

TEST(Lattice, ProductNeedsBoth) { EXPECT_EQ(points_of("A[i] * B[i]", {0, 1}), (Points{{0, 1}})); }

TEST(Lattice, SumTakesEither) {
  EXPECT_EQ(points_of("A[i] + B[i]", {0, 1}), (Points{{0, 1}, {0}, {1}}));
}

TEST(Lattice, FactorOfASum) {
  EXPECT_EQ(points_of("(A[i] + B[i]) * C[i]", {0, 1, 2}), (Points{{0, 1, 2}, {0, 2}, {1, 2}}));
}

TEST(Lattice, TermBesideAProduct) {
  EXPECT_EQ(points_of("A[i] * B[i] + C[i]", {0, 1, 2}), (Points{{0, 1, 2}, {0, 1}, {2}}));
}

TEST(Lattice, AbsentNumeratorStaysAbsent) {
  EXPECT_EQ(points_of("A[i] / B[i]", {0, 1}), (Points{{0, 1}, {0}}));
}

TEST(Lattice, DenseOperandsTakeNoPart) { EXPECT_EQ(points_of("A[i] * d[i]", {0}), (Points{{0}})); }

TEST(Lattice, WhatIsAbsentAlreadyFallsAway) {
  EXPECT_EQ(points_of("(A[i] + B[i]) * C[i]", {1, 2}, {0}), (Points{{1, 2}}));
  EXPECT_EQ(points_of("A[i] * B[i]", {1}, {0}), Points{});
}

TEST(Lattice, VanishesWithoutItsOperands) {
  const nest::Nest nest = nest::parse_nest(
      "nest {\noperand A: f32, csf\noperand d: f32\nresult R: f32\nforall i {\nR[i] = A[i] + "
      "d[i]\n}\n}");
  EXPECT_FALSE(vanishes(nest.root, {0}));
  EXPECT_TRUE(vanishes(nest.root, {0, 1}));
}

}  // namespace
}  // namespace tulle::lower
