// Formats: names, the long form, and properties.
#include "format/format.h"

#include <gtest/gtest.h>

#include "tulle/error.h"

namespace tulle {
namespace {

struct Named {
  const char* name;
  int rank;
  const char* long_form;
};

class NamedFormat : public testing::TestWithParam<Named> {};

TEST_P(NamedFormat, RoundTrips) {
  const Format format = Format::parse(GetParam().name, GetParam().rank);
  EXPECT_EQ(format.to_string(), GetParam().long_form);
  EXPECT_EQ(format.name(), GetParam().name);
  EXPECT_EQ(Format::parse(format.to_string(), GetParam().rank), format);
  EXPECT_TRUE(format.is_ordered());
  EXPECT_TRUE(format.is_unique());
}

INSTANTIATE_TEST_SUITE_P(
    Names, NamedFormat,
    testing::Values(
        Named{"dense", 0, "() -> ()"}, Named{"dense", 1, "(i) -> (i: dense)"},
        Named{"dense", 2, "(i,j) -> (i: dense, j: dense)"},
        Named{"coo", 1, "(i) -> (i: compressed)"},
        Named{"coo", 2, "(i,j) -> (i: compressed nonunique, j: singleton)"},
        Named{"coo", 3,
              "(i,j,k) -> (i: compressed nonunique, j: singleton nonunique, k: singleton)"},
        Named{"csr", 2, "(i,j) -> (i: dense, j: compressed)"},
        Named{"csc", 2, "(i,j) -> (j: dense, i: compressed)"},
        Named{"dcsr", 2, "(i,j) -> (i: compressed, j: compressed)"},
        Named{"dcsc", 2, "(i,j) -> (j: compressed, i: compressed)"},
        Named{"csf", 3, "(i,j,k) -> (i: compressed, j: compressed, k: compressed)"},
        Named{"bsr(2,3)", 2, "(i,j) -> (i/2: dense, j/3: compressed, i%2: dense, j%3: dense)"},
        Named{"bsc(2,3)", 2, "(i,j) -> (j/3: dense, i/2: compressed, i%2: dense, j%3: dense)"},
        Named{"csr", 3, "(b,i,j) -> (b: dense, i: dense, j: compressed)"},
        Named{"csc", 3, "(b,i,j) -> (b: dense, j: dense, i: compressed)"},
        Named{"dcsr", 3, "(b,i,j) -> (b: dense, i: compressed, j: compressed)"},
        Named{"bsr(4,4)", 3,
              "(b,i,j) -> (b: dense, i/4: dense, j/4: compressed, i%4: dense, j%4: dense)"},
        Named{"csr", 4, "(b0,b1,i,j) -> (b0: dense, b1: dense, i: dense, j: compressed)"}));

TEST(Format, CsfOfAMatrixIsDcsr) {
  EXPECT_EQ(Format::parse("csf", 2), Format::parse("dcsr", 2));
  EXPECT_EQ(Format::parse("csf", 1), Format::parse("coo", 1));
}

TEST(Format, LongFormWithoutAName) {
  const char* text = "(r,c) -> (c: compressed nonunique unordered, r: singleton)";
  const Format format = Format::parse(text, 2);
  EXPECT_EQ(format.to_string(), text);
  EXPECT_EQ(format.name(), text);
  EXPECT_FALSE(format.is_ordered());
  EXPECT_TRUE(format.is_unique());
}

TEST(Format, NamesOfDimensionsDoNotMatter) {
  EXPECT_EQ(Format::parse("(row,col) -> (row: dense, col: compressed)", 2),
            Format::parse("csr", 2));
  EXPECT_EQ(Format::parse("(row,col) -> (row: dense, col: compressed)", 2).name(), "csr");
}

TEST(Format, PropertiesMayBeSpelledOut) {
  EXPECT_EQ(Format::parse("(i,j) -> (i: dense, j: compressed unique ordered)", 2),
            Format::parse("csr", 2));
}

TEST(Format, DuplicatesAreToldApartByAUniqueSingleton) {
  EXPECT_FALSE(Format::parse("(i,j) -> (i: dense, j: compressed nonunique)", 2).is_unique());
  EXPECT_FALSE(Format::parse("(i,j) -> (i: compressed nonunique, j: dense)", 2).is_unique());
  const char* pairs = "(i,j,k) -> (i: compressed nonunique, j: compressed nonunique, k: singleton)";
  EXPECT_FALSE(Format::parse(pairs, 3).is_unique());
  EXPECT_THROW(Format::parse("(i,j,k,l) -> (i: compressed nonunique, j: compressed nonunique, "
                             "k: singleton, l: bitmap)",
                             4),
               UserError);
  EXPECT_TRUE(
      Format::parse("(i,j,k) -> (i: dense, j: compressed nonunique, k: singleton)", 3).is_unique());
  EXPECT_FALSE(Format::parse("(i,j) -> (i: compressed nonunique, j: compressed)", 2).is_unique());
  EXPECT_FALSE(
      Format::parse("(i,j) -> (i: compressed nonunique, j: singleton nonunique)", 2).is_unique());
}

TEST(Format, DenseInAnyOrderIsDense) {
  EXPECT_TRUE(Format::parse("(i,j) -> (j: dense, i: dense)", 2).is_dense());
  EXPECT_TRUE(Format::parse("(i,j) -> (i/4: dense, j: dense, i%4: dense)", 2).is_dense());
  EXPECT_FALSE(Format::parse("csr", 2).is_dense());
}

TEST(Format, Blocks) {
  EXPECT_TRUE(Format::parse("bsr(1,1)", 2).has_blocks());
  EXPECT_EQ(Format::parse("bsr(1,1)", 2).name(), "bsr(1,1)");
  EXPECT_FALSE(Format::parse("csr", 2).has_blocks());
}

TEST(Format, Permuted) {
  EXPECT_EQ(Format::parse("csr", 2).permuted({1, 0}), Format::parse("csc", 2));
  // Dimension 0 of the new tensor is dimension 2 of the old one, which was stored last.
  EXPECT_EQ(Format::csf(3).permuted({2, 0, 1}), Format::csf(3, {1, 2, 0}));
}

TEST(Format, FamiliesTakeADimensionOrder) {
  EXPECT_EQ(Format::csf(2, {1, 0}, true), Format::parse("csc", 2));
  EXPECT_EQ(Format::coo(2, {1, 0}),
            Format::parse("(i,j) -> (j: compressed nonunique, i: singleton)", 2));
}

TEST(LevelExpr, ExtentsRoundUp) {
  const LevelExpr quotient{.dimension = 0, .part = LevelExpr::Part::Quotient, .divisor = 4};
  const LevelExpr remainder{.dimension = 0, .part = LevelExpr::Part::Remainder, .divisor = 4};
  EXPECT_EQ(quotient.extent({0}), 0);
  EXPECT_EQ(quotient.extent({8}), 2);
  EXPECT_EQ(quotient.extent({9}), 3);
  EXPECT_EQ(remainder.extent({9}), 4);
  EXPECT_EQ(quotient.coordinate({7}), 1);
  EXPECT_EQ(remainder.coordinate({7}), 3);
}

TEST(LevelExpr, DifferencesRunOverAllDiagonals) {
  const LevelExpr expr{.dimension = 1, .part = LevelExpr::Part::Difference, .second = 0};
  EXPECT_EQ(expr.extent({3, 5}), 7);
  EXPECT_EQ(expr.first({3, 5}), -2);
  EXPECT_EQ(expr.coordinate({2, 1}), -1);
  EXPECT_EQ(expr.extent({0, 5}), 0);
}

TEST(Format, KindsWithGapsPrintAndParseBack) {
  const std::pair<const char*, const char*> texts[] = {
      {"ell(4)", "(i,j) -> (i: dense, j: padded(4))"},
      {"dia", "(i,j) -> (j-i: compressed, i: range)"},
      {"dbsr(2,3)", "(i,j) -> (i/2: compressed, j/3: compressed, i%2: dense, j%3: dense)"},
      {"ragged", "(i,j) -> (i: dense, j: ragged)"},
      {"bitmap", "(i,j) -> (i: dense, j: bitmap)"},
      {"sr-bcrs(8,4)", "(i,j) -> (i/8: dense, j: compressed multiple(4), i%8: dense)"},
  };
  for (const auto& [name, text] : texts) {
    const Format format = Format::parse(name, 2);
    EXPECT_EQ(format.to_string(), text);
    EXPECT_EQ(format.name(), name);
    EXPECT_EQ(Format::parse(text, 2), format);
    const Format batched = Format::parse(name, 3);
    EXPECT_EQ(batched.name(), name);
    EXPECT_EQ(Format::parse(batched.to_string(), 3), batched);
  }
  EXPECT_EQ(Format::parse("dia", 2).permuted({1, 0}).to_string(),
            "(j,i) -> (j-i: compressed, i: range)");
  EXPECT_NE(Format::parse("ell(4)", 2), Format::parse("ell(5)", 2));
}

}  // namespace
}  // namespace tulle
