// Suggestions for names that do not exist.
#include "support/similar_name.h"

#include <gtest/gtest.h>

namespace tulle {
namespace {

constexpr std::string_view kNames = "dense, coo, csr, csc, bsr(r,c), sr-bcrs(r,g), softmax, sum";

TEST(SimilarName, NamesWithOneMistakeAreSuggested) {
  EXPECT_EQ(did_you_mean("crs", kNames), " (did you mean 'csr'?)");
  EXPECT_EQ(did_you_mean("CSR", kNames), " (did you mean 'csr'?)");
  EXPECT_EQ(did_you_mean("cssr", kNames), " (did you mean 'csr'?)");
  EXPECT_EQ(did_you_mean("bssr", kNames), " (did you mean 'bsr'?)");
  EXPECT_EQ(did_you_mean("sr-brcs", kNames), " (did you mean 'sr-bcrs'?)");
}

TEST(SimilarName, TheCaseDoesNotMatter) {
  EXPECT_EQ(did_you_mean("b", "A, B"), " (did you mean 'B'?)");
  EXPECT_EQ(did_you_mean("C", "A, B"), "");
}

TEST(SimilarName, LongNamesMayHaveSeveralMistakes) {
  EXPECT_EQ(did_you_mean("softmx", kNames), " (did you mean 'softmax'?)");
  EXPECT_EQ(did_you_mean("sfotmaxx", kNames), " (did you mean 'softmax'?)");
}

TEST(SimilarName, OtherNamesAreNot) {
  EXPECT_EQ(did_you_mean("lil", kNames), "");
  EXPECT_EQ(did_you_mean("any", kNames), "");
  EXPECT_EQ(did_you_mean("x", kNames), "");
  EXPECT_EQ(did_you_mean("", kNames), "");
  EXPECT_EQ(did_you_mean("crs", ""), "");
  EXPECT_EQ(did_you_mean(std::string(1000, 'c'), kNames), "");
}

}  // namespace
}  // namespace tulle
