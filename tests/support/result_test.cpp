// Values, refusals, and returning them from functions.
#include "support/result.h"

#include <memory>

#include <gtest/gtest.h>

namespace tulle {
namespace {

Result<int> halved(int number) {
  if (number % 2 != 0) return refusal(number, " is odd; double it first.");
  return number / 2;
}

Result<> check_small(int number) {
  if (number < 100) return {};
  return refusal(number, " is too large.");
}

Result<std::string> described(int number) {
  TULLE_TRY(check_small(number));
  const Result<int> half = halved(number);
  if (!half) return half.error();
  return concat("twice ", *half);
}

TEST(Result, HoldsAValueOrARefusal) {
  EXPECT_EQ(*described(8), "twice 4");
  EXPECT_EQ(described(7).error().why, "7 is odd; double it first.");
  EXPECT_EQ(described(102).error().why, "102 is too large.");
}

TEST(Result, HandsOutWhatCannotBeCopied) {
  Result<std::unique_ptr<int>> result = std::make_unique<int>(3);
  const std::unique_ptr<int> taken = *std::move(result);
  EXPECT_EQ(*taken, 3);
}

}  // namespace
}  // namespace tulle
