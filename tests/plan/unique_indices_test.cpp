// Tests of giving every index one extent throughout a program.
#include "plan/rewrite/unique_indices.h"

#include <gtest/gtest.h>

namespace tulle::plan {
namespace {

using Indices = std::vector<std::string>;

TEST(UniqueIndices, AreRenamedWhereTheirExtentDiffers) {
  const std::map<std::string, expr::TensorType> types = {
      {"A", {DType::Float32, DType::Int32, Format::parse("csr", 2)}},
      {"B", {DType::Float32, DType::Int32, Format::parse("csr", 2)}}};
  const UniqueProgram program = with_unique_indices(
      expr::resolve(expr::parse_program("x[i,io] = A[i,io]; y[i,i_1] = B[i,i_1]"), types));
  EXPECT_EQ(program.program.statements[0].indices, (Indices{"i", "io"}));
  EXPECT_EQ(program.program.statements[1].indices, (Indices{"i.1", "i_1"}));
  EXPECT_EQ(program.renamed[1].at("i"), "i.1");
}

}  // namespace
}  // namespace tulle::plan
