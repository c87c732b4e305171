// The keys of programs on disk.
#include "driver/program_key.h"

#include <gtest/gtest.h>

namespace tulle {
namespace {

TEST(ProgramKey, SourcesDifferInEveryOperandAndOption) {
  const std::vector<TensorSpec> operands = {{"A", "csr", DType::Float32, DType::Int32, 2, {}}};
  const auto source = [&](const std::vector<TensorSpec>& given, const ProgramOptions& options) {
    return source_of("notation", "y[i] = A[i,j]", given, options);
  };
  const jit::ContentHash plain = source(operands, {});
  EXPECT_EQ(source(operands, {}), plain);
  EXPECT_NE(source_of("einsum", "y[i] = A[i,j]", operands, {}), plain);
  EXPECT_NE(source_of("notation", "y[i] = A[j,i]", operands, {}), plain);
  const auto other_operand = [&](auto change) {
    std::vector<TensorSpec> others = operands;
    change(others[0]);
    return source(others, {});
  };
  EXPECT_NE(other_operand([](TensorSpec& spec) { spec.name = "B"; }), plain);
  EXPECT_NE(other_operand([](TensorSpec& spec) { spec.format = "csc"; }), plain);
  EXPECT_NE(other_operand([](TensorSpec& spec) { spec.type = DType::Float64; }), plain);
  EXPECT_NE(other_operand([](TensorSpec& spec) { spec.index_type = DType::Int64; }), plain);
  const auto other_option = [&](auto change) {
    ProgramOptions options;
    change(options);
    return source(operands, options);
  };
  EXPECT_NE(other_option([](ProgramOptions& o) { o.out_formats["y"] = "csf"; }), plain);
  EXPECT_NE(other_option([](ProgramOptions& o) { o.schedule = "parallel(i)"; }), plain);
  EXPECT_NE(other_option([](ProgramOptions& o) { o.features = "avx2"; }), plain);
  EXPECT_NE(other_option([](ProgramOptions& o) { o.reduce = "amax"; }), plain);
  EXPECT_NE(other_option([](ProgramOptions& o) { o.ones = {{0, 1}}; }), plain);
  EXPECT_NE(other_option([](ProgramOptions& o) { o.tuned = false; }), plain);
}

}  // namespace
}  // namespace tulle
