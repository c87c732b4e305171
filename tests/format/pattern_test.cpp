// Patterns: slots, lengths, and validation.
#include "format/pattern.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "support/mutant.h"
#include "tulle/error.h"

namespace tulle {
namespace {

ArrayView array(std::vector<int32_t> elements) {
  const auto owner = std::make_shared<const std::vector<int32_t>>(std::move(elements));
  return {owner->data(), static_cast<int64_t>(owner->size()), owner};
}

using LevelArrays = std::pair<std::vector<int32_t>, std::vector<int32_t>>;  // pos, crd
using Arrays = std::vector<LevelArrays>;

Pattern make(const char* format, std::vector<int64_t> sizes, const Arrays& arrays) {
  std::vector<LevelStorage> levels;
  for (const auto& [pos, crd] : arrays) levels.push_back({array(pos), array(crd)});
  const int rank = static_cast<int>(sizes.size());
  return {Format::parse(format, rank), std::move(sizes), DType::Int32, std::move(levels)};
}

TEST(Pattern, SlotsOfCsr) {
  const Pattern pattern = make("csr", {3, 4}, {{{}, {}}, {{0, 2, 2, 3}, {1, 3, 0}}});
  EXPECT_EQ(pattern.slots(0), 3);
  EXPECT_EQ(pattern.slots(1), 3);
  EXPECT_EQ(pattern.value_count(), 3);
  EXPECT_NO_THROW(validate(pattern, "A"));
}

TEST(Pattern, SlotsOfCoo) {
  const Pattern pattern = make("coo", {3, 4}, {{{0, 3}, {0, 0, 2}}, {{}, {1, 3, 0}}});
  EXPECT_EQ(pattern.slots(0), 3);
  EXPECT_EQ(pattern.value_count(), 3);
  EXPECT_NO_THROW(validate(pattern, "A"));
}

TEST(Pattern, BlocksArePadded) {
  const Pattern pattern =
      make("bsr(2,3)", {3, 4}, {{{}, {}}, {{0, 1, 2}, {1, 0}}, {{}, {}}, {{}, {}}});
  EXPECT_EQ(pattern.slots(0), 2);
  EXPECT_EQ(pattern.slots(1), 2);
  EXPECT_EQ(pattern.value_count(), 2 * 2 * 3);
  EXPECT_NO_THROW(validate(pattern, "A"));
}

TEST(Pattern, ScalarsAndEmptyTensors) {
  EXPECT_EQ(make("dense", {}, {}).value_count(), 1);
  EXPECT_EQ(make("dense", {3, 0}, {{{}, {}}, {{}, {}}}).value_count(), 0);
  const Pattern pattern = make("csr", {0, 4}, {{{}, {}}, {{0}, {}}});
  EXPECT_EQ(pattern.value_count(), 0);
  EXPECT_NO_THROW(validate(pattern, "A"));
}

struct Mistake {
  const char* format;
  Arrays arrays;
  const char* message;
};

class PatternError : public testing::TestWithParam<Mistake> {};

TEST_P(PatternError, SaysWhatIsWhere) {
  try {
    std::vector<int64_t> sizes = {3, 4};
    if (std::string_view(GetParam().format).starts_with("(i,j,k)")) sizes.push_back(5);
    validate(make(GetParam().format, sizes, GetParam().arrays), "A");
    FAIL() << "accepted";
  } catch (const UserError& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find(GetParam().message), std::string::npos) << message;
  }
}

constexpr const char* kRepeated = "(i,j) -> (i: compressed nonunique, j: compressed)";

// Slots that are equal in two levels, each of which repeats coordinates.
constexpr const char* kRepeatedTwice =
    "(i,j,k) -> (i: compressed nonunique, j: compressed nonunique, k: compressed)";
constexpr const char* kRepeatedPairs =
    "(i,j,k) -> (i: compressed nonunique, j: compressed nonunique, k: singleton)";

TEST(Pattern, SlotsOfTheSameCoordinatesAscendAcrossThem) {
  const LevelArrays two_of_one = {{0, 2}, {1, 1}};
  validate(make(kRepeatedTwice, {3, 4, 5},
                {two_of_one, {{0, 1, 3}, {2, 2, 3}}, {{0, 1, 2, 3}, {0, 4, 1}}}),
           "A");
  validate(make(kRepeatedPairs, {3, 4, 5}, {two_of_one, {{0, 2, 3}, {2, 2, 2}}, {{}, {0, 1, 3}}}),
           "A");
  validate(make(kRepeated, {3, 4}, {{{0, 3}, {0, 0, 1}}, {{0, 2, 4, 5}, {0, 1, 2, 3, 0}}}), "A");
  validate(make("(i,j) -> (i: compressed nonunique, j: compressed nonunique)", {3, 4},
                {{{0, 2}, {0, 0}}, {{0, 2, 4}, {0, 1, 1, 3}}}),
           "A");
  validate(make("(i,j) -> (i: compressed nonunique unordered, j: compressed)", {3, 4},
                {{{0, 2}, {0, 0}}, {{0, 2, 4}, {0, 2, 1, 3}}}),
           "A");
}

constexpr const char* kUnordered = "(i,j) -> (i: dense, j: compressed unordered)";
constexpr const char* kUnorderedCoo =
    "(i,j) -> (i: compressed nonunique unordered, j: singleton unordered)";

const std::vector<Mistake>& mistakes() {
  static const std::vector<Mistake> all = {
      Mistake{"csr", {{{}, {}}}, "has 2 levels, but storage for 1 was given"},
      Mistake{"csr", {{{}, {}}, {{0, 1}, {0}}}, "`pos` has 2 elements, but 4 are needed"},
      Mistake{"csr", {{{}, {1}}, {{0, 1, 1, 1}, {0}}}, "Level 0 stores no `crd`"},
      Mistake{"coo", {{{0, 2}, {0, 1}}, {{}, {1}}}, "`crd` has 1 elements, but 2 are needed"},
      Mistake{"csr", {{{}, {}}, {{1, 1, 1, 1}, {0}}}, "pos[0] is 1, but positions start at 0"},
      Mistake{"csr", {{{}, {}}, {{0, 2, 1, 2}, {0, 1}}}, "pos[2] = 1 is less than pos[1] = 2"},
      Mistake{"csr", {{{}, {}}, {{0, 1, 1, 3}, {0, 1}}}, "pos[3] = 3, but the level has 2"},
      Mistake{"csr", {{{}, {}}, {{0, 1, 1, 2}, {0, 4}}}, "crd[1] = 4 is outside [0, 4)"},
      Mistake{"csr", {{{}, {}}, {{0, 1, 1, 2}, {-1, 0}}}, "crd[0] = -1 is outside [0, 4)"},
      Mistake{"csr", {{{}, {}}, {{0, 2, 2, 2}, {3, 1}}}, "crd[1] = 1 follows crd[0] = 3"},
      Mistake{kRepeated,
              {{{0, 3}, {0, 0, 1}}, {{0, 2, 4, 5}, {0, 2, 1, 3, 3}}},
              "crd[2] = 1 follows crd[1] = 2 under a slot with the same coordinates"},
      Mistake{kRepeated,
              {{{0, 3}, {1, 1, 1}}, {{0, 1, 1, 2}, {2, 2}}},
              "crd[1] = 2 follows crd[0] = 2 under a slot with the same coordinates"},
      Mistake{kRepeatedTwice,
              {{{0, 2}, {1, 1}}, {{0, 1, 2}, {2, 2}}, {{0, 1, 2}, {4, 0}}},
              "crd[1] = 0 follows crd[0] = 4 under a slot with the same coordinates"},
      Mistake{kRepeatedTwice,
              {{{0, 3}, {1, 1, 1}}, {{0, 1, 2, 3}, {2, 2, 2}}, {{0, 1, 1, 2}, {4, 4}}},
              "crd[1] = 4 follows crd[0] = 4 under a slot with the same coordinates"},
      Mistake{kRepeatedPairs,
              {{{0, 2}, {1, 1}}, {{0, 2, 3}, {2, 2, 2}}, {{}, {0, 3, 1}}},
              "crd[2] = 1 follows crd[1] = 3 under a slot with the same coordinates"},
      Mistake{kRepeatedPairs,
              {{{0, 2}, {1, 1}}, {{0, 1, 2}, {2, 2}}, {{}, {3, 3}}},
              "crd[1] = 3 follows crd[0] = 3 under a slot with the same coordinates"},
      Mistake{"ell(2)", {{{}, {}}, {{}, {0, 1, 2}}}, "`crd` has 3 elements, but 6 are needed"},
      Mistake{"ell(2)",
              {{{}, {}}, {{}, {0, -1, -1, 2, 0, 1}}},
              "crd[3] = 2 follows the unused slot crd[2] = -1; move the unused slots"},
      Mistake{"ell(2)", {{{}, {}}, {{}, {0, -1, -2, 2, 0, 1}}}, "crd[2] = -2 is outside [0, 4)"},
      Mistake{"ell(2)", {{{}, {}}, {{}, {3, 1, -1, -1, 0, 1}}}, "crd[1] = 1 follows crd[0] = 3"},
      Mistake{"ragged", {{{}, {}}, {{0, 5, 5, 5}, {}}}, "is a row longer than the extent 4"},
      Mistake{"ragged", {{{}, {}}, {{0, 2, 1, 3}, {}}}, "pos[2] = 1 is less than pos[1] = 2"},
      Mistake{"ragged", {{{}, {}}, {{0, 2, 2, -1}, {}}}, "pos[3] = -1 is negative"},
      Mistake{"dia", {{{0, 1}, {4}}, {{}, {}}}, "crd[0] = 4 is outside [-2, 4)"},
      Mistake{"dia", {{{0, 2}, {1, -1}}, {{}, {}}}, "crd[1] = -1 follows crd[0] = 1"},
      Mistake{"(i,j) -> (i: dense, j: compressed multiple(2))",
              {{{}, {}}, {{0, 1, 2, 2}, {0, 1}}},
              "pos[1] = 1 is not a multiple of 2; round the length of every segment up"},
      Mistake{"(i,j) -> (i: dense, j: compressed multiple(2))",
              {{{}, {}}, {{0, 2, 2, 6}, {0, 1, 2, -1, -1, -1}}},
              "the segment that ends at pos[3] = 6 has 2 or more unused slots at its end"},
      Mistake{"csr", {{{}, {}}, {{0, 2, 2, 2}, {1, 1}}}, "slots 0 and 1 have the same coordinates"},
      Mistake{"coo", {{{0, 2}, {2, 1}}, {{}, {0, 0}}}, "crd[1] = 1 follows crd[0] = 2"},
      Mistake{"coo", {{{0, 2}, {1, 1}}, {{}, {3, 0}}}, "crd[1] = 0 follows crd[0] = 3"},
      Mistake{"coo", {{{0, 2}, {1, 1}}, {{}, {3, 3}}}, "slots 0 and 1 have the same coordinates"},
      Mistake{kUnordered, {{{}, {}}, {{0, 3, 3, 3}, {2, 0, 2}}}, "slots 0 and 2"},
      Mistake{kUnorderedCoo, {{{0, 3}, {1, 0, 1}}, {{}, {3, 3, 3}}}, "slots 0 and 2"},
      Mistake{
          "csr", {{{}, {}}, {{0, 2, 2, 2}, {3, 1}}}, "A: level 1 (compressed over dimension 1"}};
  return all;
}

INSTANTIATE_TEST_SUITE_P(Mistakes, PatternError, testing::ValuesIn(mistakes()));

// The error of a mistake, or an empty text if it is accepted.
std::string error_of(const Mistake& mistake) {
  try {
    std::vector<int64_t> sizes = {3, 4};
    if (std::string_view(mistake.format).starts_with("(i,j,k)")) sizes.push_back(5);
    validate(make(mistake.format, sizes, mistake.arrays), "A");
  } catch (const UserError& error) {
    return error.what();
  }
  return {};
}

// A check that a mutant leaves out.
class PatternMutant : public testing::TestWithParam<const char*> {
 protected:
  ~PatternMutant() override { set_mutant(""); }
};

TEST_P(PatternMutant, AcceptsAMistake) {
  set_mutant(GetParam());
  EXPECT_TRUE(std::any_of(mistakes().begin(), mistakes().end(),
                          [](const Mistake& mistake) { return error_of(mistake).empty(); }));
}

INSTANTIATE_TEST_SUITE_P(Checks, PatternMutant,
                         testing::Values("coordinates-unchecked", "last-position-unchecked",
                                         "multiples-unchecked", "order-across-parents-unchecked",
                                         "order-unchecked", "positions-unchecked",
                                         "ragged-lengths-unchecked", "repetitions-unchecked",
                                         "unused-groups-unchecked"));

TEST(Pattern, UnorderedAndNonuniqueAreAccepted) {
  EXPECT_NO_THROW(validate(make(kUnordered, {3, 4}, {{{}, {}}, {{0, 2, 2, 3}, {3, 1, 3}}}), "A"));
  EXPECT_NO_THROW(
      validate(make(kUnorderedCoo, {3, 4}, {{{0, 3}, {1, 0, 1}}, {{}, {3, 3, 2}}}), "A"));
  const char* duplicates = "(i,j) -> (i: compressed nonunique, j: singleton nonunique)";
  EXPECT_NO_THROW(validate(make(duplicates, {3, 4}, {{{0, 2}, {1, 1}}, {{}, {3, 3}}}), "A"));
}

TEST(Pattern, IndicesAreIntegers) {
  EXPECT_THROW(Pattern(Format::dense(0), {}, DType::Float32, {}), UserError);
}

TEST(Pattern, TooManySlotsAreRefused) {
  const int64_t huge = int64_t{1} << 40;
  EXPECT_THROW(make("dense", {huge, huge}, {{{}, {}}, {{}, {}}}), UserError);
}

bool in_order(const Pattern& pattern) {
  NoParallelism serial;
  return is_in_order(pattern, "A", serial);
}

TEST(Order, IsToldApartFromOtherFaults) {
  EXPECT_TRUE(in_order(make("csr", {2, 4}, {{{}, {}}, {{0, 2, 3}, {1, 3, 0}}})));
  EXPECT_FALSE(in_order(make("csr", {2, 4}, {{{}, {}}, {{0, 2, 3}, {3, 1, 0}}})));
  EXPECT_FALSE(in_order(make("csr", {2, 4}, {{{}, {}}, {{0, 2, 3}, {3, 3, 0}}})));
  EXPECT_FALSE(in_order(make("coo", {2, 4}, {{{0, 2}, {1, 0}}, {{}, {0, 0}}})));
  EXPECT_FALSE(in_order(make("coo", {2, 4}, {{{0, 2}, {1, 1}}, {{}, {2, 2}}})));
  EXPECT_THROW(in_order(make("csr", {2, 4}, {{{}, {}}, {{0, 2, 3}, {3, 4, 0}}})), UserError);
  EXPECT_THROW(in_order(make("csr", {2, 4}, {{{}, {}}, {{0, 4, 3}, {3, 2, 0}}})), UserError);
}

}  // namespace
}  // namespace tulle
