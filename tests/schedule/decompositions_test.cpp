// Tests of decompose steps and of the schedule without them.
#include "schedule/decompositions.h"

#include <gtest/gtest.h>

#include "schedule/schedule.h"
#include "tulle/error.h"

namespace tulle::schedule {
namespace {

TEST(Decompositions, AreTakenOut) {
  const std::string text =
      "decompose(A, { rows(nnz<=4): ell(4); rest: csr });\nparallel(i); decompose(B, hyb(2,3))";
  const Decompositions found = take_decompositions(text);
  ASSERT_EQ(found.steps.size(), 2U);
  EXPECT_EQ(found.steps[0].operand, "A");
  EXPECT_EQ(found.steps[0].format, "{ rows(nnz<=4): ell(4); rest: csr }");
  EXPECT_EQ(found.steps[1].operand, "B");
  EXPECT_EQ(found.steps[1].format, "hyb(2,3)");
  EXPECT_EQ(found.rest.size(), text.size());
  EXPECT_EQ(to_string(parse_schedule(found.rest)), "parallel(i)");
  EXPECT_EQ(found.rest.find("parallel"), text.find("parallel"));
}

TEST(Decompositions, PrintAndParseBack) {
  const Schedule schedule = parse_schedule("decompose(A, {band(-1,1): dia; rest: csr})");
  EXPECT_EQ(parse_schedule(to_string(schedule)), schedule);
}

TEST(Decompositions, AreRefusedWhereTheyAreWrong) {
  EXPECT_THROW(take_decompositions("C: decompose(A, hyb(1,1))"), UserError);
  EXPECT_THROW(take_decompositions("decompose(A, hyb(1,1)); decompose(A, hyb(2,1))"), UserError);
  EXPECT_THROW(take_decompositions("decompose(A)"), UserError);
  EXPECT_THROW(take_decompositions("decompose(A, hyb(1,1)"), UserError);
  EXPECT_THROW(take_decompositions("decompose(A, {"), UserError);
}

}  // namespace
}  // namespace tulle::schedule
