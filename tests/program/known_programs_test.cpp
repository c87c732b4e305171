// The text of programs on disk.
#include "kernels/known_programs.h"

#include <gtest/gtest.h>

#include "loop/parse.h"
#include "loop/print.h"

namespace tulle {
namespace {

constexpr const char* kHost =
    "host program(A: f32*; caller.threads: i64, i.extent: i64) -> (C.pos1, C) {\n"
    "  C.pos1 = alloc zeroed i32[i.extent + 1]\n"
    "  C = alloc f32[i.extent]\n"
    "  launch fill_C\n"
    "}\n"
    "\n"
    "kernel fill_C(A: f32*, C: mut f32*; i.extent: i64) {\n"
    "  parallel for i in [0, i.extent) {\n"
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

TEST(KnownProgram, IsStoredUnderTheProgramKeyAndTheDisabledPasses) {
  CodeRequest request;
  request.disabled_passes = {};
  EXPECT_FALSE(stored_key(request));
  request.program_key = jit::hash_of({"program"});
  EXPECT_EQ(stored_key(request), request.program_key);
  CodeRequest other = request;
  other.disabled_passes = {"simplify"};
  EXPECT_NE(stored_key(other), stored_key(request));
}

}  // namespace
}  // namespace tulle
