// Queries of nests.
#include <gtest/gtest.h>

#include "nest/bound_loops.h"
#include "nest/parse.h"

namespace tulle::nest {
namespace {

Nest with_variables(const std::string& declarations, const std::string& body) {
  return parse_nest("nest {\n operand A: f32, i32, csr\n operand x: f32\n result y: f32\n" +
                    declarations + "\n" + body + "\n}");
}

TEST(NestQueries, AVariableDerivesFromAllThatItsLoopBinds) {
  Nest nest = with_variables("", "forall i { forall j { y[i] += A[i,j] * x[j] } }");
  using Origin = Variable::Origin;
  nest.variables["f"] = {Origin::Fused, "i", "j"};
  nest.variables["f0"] = {Origin::Outer, "f", "", 4};
  nest.variables["d"] = {Origin::Difference, "i", "j"};
  nest.variables["c"] = {Origin::EntryChunk, "i", "j", 8, "A"};
  nest.variables["e"] = {Origin::Entry, "i", "j", 8, "A"};
  for (const char* var : {"f", "f0", "d", "c", "e"})
    EXPECT_TRUE(nest.derives_from(var, "i")) << var;
  for (const char* var : {"f", "f0", "c", "e"}) EXPECT_TRUE(nest.derives_from(var, "j")) << var;
  EXPECT_FALSE(nest.derives_from("d", "j"));  // j has its own loop beside the loop over d
  EXPECT_TRUE(nest.derives_from("i", "i"));
  EXPECT_FALSE(nest.derives_from("i", "f"));
}

TEST(NestQueries, AValueReadsTheTensorsInIt) {
  const Nest nest = with_variables("", "forall i { forall j { y[i] += A[i,j] * x[j] } }");
  const Assign& assign = *assigns(nest.root).front();
  EXPECT_TRUE(reads(assign.value, "A"));
  EXPECT_TRUE(reads(assign.value, "x"));
  EXPECT_FALSE(reads(assign.value, "y"));
}

int64_t threads(const std::string& outer, const std::string& inner) {
  return threads_of_block(with_variables("extent j = 5\nvar i0 = i / 3\nvar i1 = i % 3",
                                         "forall i0 block { forall i1" + outer + " { forall j" +
                                             inner + " { y[i] += A[i,j] * x[j] } } }"));
}

TEST(NestQueries, ABlockHasTheThreadsThatItsLoopsAskFor) {
  EXPECT_EQ(threads("", ""), 1);
  EXPECT_EQ(threads(" thread", ""), 3);
  EXPECT_EQ(threads(" warp", ""), 3 * 32);
  EXPECT_EQ(threads(" warp", " lane"), 3 * 32);
  EXPECT_EQ(threads("", " lane"), 32);
}

}  // namespace
}  // namespace tulle::nest
