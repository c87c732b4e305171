// The text of programs that are kept on disk.
#include "known_programs.h"

#include <gtest/gtest.h>

#include "loop/parse.h"
#include "loop/print.h"

namespace tulle {
namespace {

constexpr const char* kHost =
    "host program(A: f32*; threads: i64, n_i: i64) -> (C_pos1, C) {\n"
    "  C_pos1 = alloc zeroed i32[n_i + 1]\n"
    "  C = alloc f32[n_i]\n"
    "  launch fill_C\n"
    "}\n"
    "\n"
    "kernel fill_C(A: f32*, C: mut f32*; n_i: i64) {\n"
    "  parallel for i in [0, n_i) {\n"
    "  }\n"
    "}\n";

KnownProgram example() {
  KnownProgram known;
  known.code = {{jit::hash_of({"code"}), {"kernel"}}};
  known.lowered.results = {{"C", "", {-1, 0}, {-1, -1}, 1}};
  known.lowered.program = loop::parse_host_program(kHost);
  return known;
}

TEST(KnownProgram, IsReadBack) {
  const std::string text = to_string(example());
  const auto found = parse_known_program(text, 1);
  ASSERT_TRUE(found);
  EXPECT_EQ(to_string(*found), text);
  EXPECT_EQ(found->code[0].key, jit::hash_of({"code"}));
  EXPECT_EQ(found->code[0].kernels, std::vector<std::string>{"kernel"});
  EXPECT_EQ(found->lowered.results[0].pos, (std::vector<int>{-1, 0}));
  EXPECT_EQ(found->lowered.results[0].values, 1);
  EXPECT_EQ(loop::to_string(found->lowered.program), kHost);
}

TEST(KnownProgram, WithASharedPatternIsReadBack) {
  KnownProgram known = example();
  known.lowered.results[0].shared_operand = "A";
  const auto found = parse_known_program(to_string(known), 1);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->lowered.results[0].shared_operand, "A");
}

TEST(KnownProgram, IsNothingWhereAnyOfItIsMissing) {
  const std::string text = to_string(example());
  EXPECT_FALSE(parse_known_program(text, 2));
  for (size_t length = 0; length < text.size() - 1; ++length)
    EXPECT_FALSE(parse_known_program(text.substr(0, length), 1)) << text.substr(0, length);
}

TEST(KnownProgram, IsNothingWhereALineIsWrong) {
  const std::string text = to_string(example());
  const auto with = [&](const std::string& old, const std::string& other) {
    std::string changed = text;
    return changed.replace(text.find(old), old.size(), other);
  };
  EXPECT_FALSE(parse_known_program(with("code ", "core "), 1));
  EXPECT_FALSE(parse_known_program(with("code ", "code 0"), 1));
  EXPECT_FALSE(parse_known_program(with("result C", "result"), 1));
  EXPECT_FALSE(parse_known_program(with(" 1 2 ", " 1 3 "), 1));
  EXPECT_FALSE(parse_known_program(with("launch", "lunch"), 1));
}

TEST(KnownProgram, SourcesDifferInAllThatIsGiven) {
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
