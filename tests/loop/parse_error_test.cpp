// Syntax errors in the loop IR's text, one per case: message and position of the caret.
#include <gtest/gtest.h>

#include "loop/parse.h"
#include "tulle/error.h"

namespace tulle::loop {
namespace {

struct Mistake {
  const char* stmt;
  const char* message;
  const char* at;  // the text that the caret underlines
};

class ParseError : public testing::TestWithParam<Mistake> {};

TEST_P(ParseError, PointsAtThePlace) {
  const std::string prefix = "kernel k(A: f32*, C: mut f32*; n: i64, m: i32, s: f32, c: bool) { ";
  try {
    parse_kernel(prefix + GetParam().stmt + " }");
    FAIL() << "parsed: " << GetParam().stmt;
  } catch (const UserError& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find(GetParam().message), std::string::npos) << message;
    const size_t line = message.find("\n  ") + 3;
    const size_t caret = message.rfind("\n  ") + 3;
    const size_t column = message.find('^', caret) - caret;
    EXPECT_EQ(message.substr(line + column, message.size() - message.find('^', caret)),
              GetParam().at)
        << message;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Mistakes, ParseError,
    testing::Values(
        Mistake{"let x: i64 = y", "no variable is called 'y'", "y"},
        Mistake{"C[0] = B[0]", "no buffer is called 'B'", "B"},
        Mistake{"let x: i64 = n + m", "both operands need the same type: i64 '+' i32", "+"},
        Mistake{"let x: f32 = n", "the value of x is i64, expected f32", "n"},
        Mistake{"C[m] = s", "an index is i64, this is i32", "m"},
        Mistake{"C[0] = n", "the value stored is i64, expected f32", "n"},
        Mistake{"let x: f33 = s", "expected a type such as", "f33"},
        Mistake{"let if: i64 = 3", "is a keyword", "if"}, Mistake{"let x: f32 = -s", "neg(x)", "s"},
        Mistake{"let x: f32 = cosine(s)", "there is no function 'cosine'", "cosine"},
        Mistake{"let x: f32 = fma(s, s)", "expected ','", ")"},
        Mistake{"let x: i32 = 3000000000:i32", "does not fit i32", "3000000000"},
        Mistake{"let x: f32 = lane_reduce(sum, s, 32)", "expected add", "sum"},
        Mistake{"let x: f32 = lane_reduce(add, s, 64)", "between 1 and 32", "64"},
        Mistake{"let x: f32 = lane_reduce(add, s, 12)", "power of two", "12"},
        Mistake{"if (n) { }", "the condition is i64, expected bool", "n"},
        Mistake{"for i in [0, n] { }", "expected ')'", "]"},
        Mistake{"for i in [0, n) by 0 { }", "the step must be positive", "0"},
        Mistake{"grid for i in [0, n) { }", "expected parallel", "grid"},
        Mistake{"{ let x: i64 = 3 } C[x] = s", "no variable is called 'x'", "x"},
        Mistake{"w = alloc global f32[3]", "expected shared, local or workspace", "global"},
        Mistake{"barrier(grid)", "expected warp or block", "grid"},
        Mistake{"prefetch(A[n], 4)", "between 1 and 3", "4"},
        Mistake{"atomic_sub(C[n], s)", "expected atomic_", "atomic_sub"},
        Mistake{"let x: bool = n && n", "is for bool", "&&"},
        Mistake{"n", "expected a statement", "n"}));

TEST(ParseError, ResultThatNothingAllocates) {
  EXPECT_THROW(parse_host_program("host f(; n: i64) -> (C) { }"), UserError);
}

TEST(ParseError, TextAfterTheKernel) {
  EXPECT_THROW(parse_kernel("kernel k() { } kernel l() { }"), UserError);
}

}  // namespace
}  // namespace tulle::loop
