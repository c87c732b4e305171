// Errors that need no operands.
#include "expr/check_notation.h"

#include <gtest/gtest.h>

#include "expr/fixture.h"
#include "tulle/error.h"

namespace tulle::expr {
namespace {

struct Mistake {
  const char* text;
  const char* message;
  const char* at;  // the text that the caret underlines
};

class NotationError : public testing::TestWithParam<Mistake> {};

TEST_P(NotationError, PointsAtThePlace) {
  try {
    check_notation(parse_program(GetParam().text));
    FAIL() << "accepted: " << GetParam().text;
  } catch (const UserError& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find(GetParam().message), std::string::npos) << message;
    EXPECT_EQ(underlined(message), GetParam().at) << message;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Mistakes, NotationError,
    testing::Values(
        Mistake{"y[i] = A[i,j] * A[i]",
                "'A' has 1 index here and 2 before; give one for each dimension", "A[i]"},
        Mistake{"T[i] = A[i,j]\nz = T[i,j]", "line 2, column 5: 'T' has 2 indices here", "T[i,j]"},
        Mistake{"y[i,k] = A[i,j]", "the index 'k' is on the left only", "k"},
        Mistake{"y[i] = relu(A[i,j])", "'relu' is not linear", "relu(A[i,j])"},
        Mistake{"y[i] = sum(k, A[i,j])", "the sum is over 'k', which its argument does not use",
                "k"}));

TEST(Notation, WhatIsRightIsAccepted) {
  check_notation(parse_program("T[i,j] = A[i,k] * A[k,j] + s\ny = sum((i,j), relu(T[i,j]))"));
}

}  // namespace
}  // namespace tulle::expr
