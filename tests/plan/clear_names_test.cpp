// Tests of users' names that collide with generated names.
#include "plan/rewrite/clear_names.h"

#include <gtest/gtest.h>

#include "expr/print.h"
#include "plan/rewrite/unique_indices.h"

namespace tulle::plan {
namespace {

TensorNames names_in(std::string_view text) { return clear_names(expr::parse_program(text)); }

TEST(ClearNames, LeavesAloneWhatStagesDoNotGive) {
  EXPECT_TRUE(names_in("y[i] = A[i,j] * A_norm[j]").empty());
  EXPECT_TRUE(names_in("y[i] = A[i,j] * B_sum[j]").empty());
  EXPECT_TRUE(names_in("y[i] = A[i,j] * compute[j] * n_k[j]").empty());
}

TEST(ClearNames, FindsLoopsOfStages) {
  for (const char* name : {"i_block", "jo", "jr", "jo_stored", "jr_thread", "A_as0_1"})
    EXPECT_TRUE(is_index_of_stages(name, {"A", "y"}, {"i", "j"})) << name;
  for (const char* name : {"i", "jo2", "k_block", "ko_block"})
    EXPECT_FALSE(is_index_of_stages(name, {"A", "y"}, {"i", "j"})) << name;
}

TEST(ClearNames, FindsWhatStagesGive) {
  for (const char* name : {"A_pos1",
                           "A_crd",
                           "A_bits2",
                           "A_count",
                           "y_chunks",
                           "y_entries0",
                           "y_total",
                           "y_sorted",
                           "y_order",
                           "y_acc",
                           "y_sum0",
                           "y_sums",
                           "A_as0",
                           "A_part1",
                           "A_size",
                           "y_add1",
                           "y_term",
                           "A_whole",
                           "y_wide",
                           "y_width",
                           "y_widest",
                           "y_pieces_y",
                           "threads",
                           "n_j",
                           "compute_y_slots",
                           "A_part0_crd1",
                           "A_as0_sorted_order",
                           "A_pieces32x132_rows",
                           "A_entry_rows",
                           "A_staged",
                           "A_staged1",
                           "sort_A_as0_sorted_blocks",
                           "part_y_sum0",
                           "n_A_as0_0",
                           "n_jo",
                           "read",
                           "inf"}) {
    const TensorNames names = names_in("y[i] = A[i,j] * " + std::string(name) + "[j]");
    ASSERT_EQ(names.size(), 1U) << name;
    std::string plain = name;
    std::erase(plain, '_');
    EXPECT_EQ(names.at(name), "user_" + plain);
  }
}

TEST(ClearNames, AvoidsNamesThatAreThere) {
  const TensorNames names = names_in("y[i] = A[i,j] * A_sum[j] * user_Asum[j] * user2_A[j]");
  EXPECT_EQ(names.at("A_sum"), "user2_Asum");
}

TEST(ClearNames, RenamesWhatBelongsToNewNames) {
  const TensorNames names = names_in("y[i] = A[i,j] * A_sum[j] * user_Asum_count[j]");
  EXPECT_EQ(names.at("A_sum"), "user_Asum");
  EXPECT_EQ(names.at("user_Asum_count"), "user_userAsumcount");
}

TEST(ClearNames, StandsInStatementsAndMessages) {
  const expr::ParsedProgram program =
      expr::parse_program("A_sum[i] = A[i,j]; y[i] = A_sum[i] * A[i,j]");
  const expr::ParsedProgram clear = with_names(program, clear_names(program));
  EXPECT_EQ(clear.statements[0].tensor, "user_Asum");
  EXPECT_EQ(expr::called(*expr::accesses(clear.statements[1].value)[0]), "'A_sum'");
}

TEST(UniqueIndices, KeepApartFromThoseOfStages) {
  const std::map<std::string, expr::TensorType> types = {
      {"A", {DType::Float32, DType::Int32, Format::parse("csr", 2)}},
      {"B", {DType::Float32, DType::Int32, Format::parse("csr", 2)}}};
  const UniqueProgram program = with_unique_indices(
      expr::resolve(expr::parse_program("x[i,io] = A[i,io]; y[i,i_1] = B[i,i_1]"), types));
  const auto& [first, second] =
      std::pair(program.program.statements[0].indices, program.program.statements[1].indices);
  EXPECT_EQ(first, (std::vector<std::string>{"i", "io_0"}));
  EXPECT_EQ(second, (std::vector<std::string>{"i_1_", "i_1_1"}));
  EXPECT_EQ(program.renamed[1].at("i"), "i_1_");
}

}  // namespace
}  // namespace tulle::plan
