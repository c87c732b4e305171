// Tensors stored in every format and read back.
#include "expr/storage.h"

#include <gtest/gtest.h>

#include "expr/fixture.h"
#include "tulle/error.h"

namespace tulle::expr {
namespace {

ReferenceTensor example(const std::vector<int64_t>& sizes, DType type) {
  std::vector<std::optional<double>> entries;
  int64_t count = 1;
  for (const int64_t size : sizes) count *= size;
  entries.reserve(static_cast<size_t>(count));
  for (int64_t n = 0; n < count; ++n) {
    entries.push_back(n % 3 == 1 ? std::optional<double>(type == DType::Bool ? 1 : n - 4) : _);
  }
  return tensor(sizes, entries, type);
}

class Storage : public testing::TestWithParam<const char*> {};

TEST_P(Storage, KeepsEveryEntry) {
  const std::string text = GetParam();
  for (const std::vector<int64_t>& sizes :
       std::vector<std::vector<int64_t>>{{5, 7}, {0, 3}, {3, 0}, {1, 1}, {3, 2, 4}}) {
    const bool is_matrix_format = text[0] == '(';
    if (is_matrix_format && sizes.size() != 2) continue;
    const Format format = Format::parse(text, static_cast<int>(sizes.size()));
    for (const DType index_type : {DType::Int32, DType::Int64}) {
      for (const DType type :
           {DType::Bool, DType::Int32, DType::Int64, DType::Float32, DType::Float64}) {
        const ReferenceTensor before = example(sizes, type);
        const StoredTensor stored = store(before, format, index_type);
        EXPECT_NO_THROW(validate(*stored.pattern, "A"));
        EXPECT_EQ(stored.values.size(),
                  static_cast<size_t>(stored.pattern->value_count() * size_of(type)));
        const ReferenceTensor after = spell_out(stored);
        EXPECT_EQ(after.floats, before.floats);
        EXPECT_EQ(after.integers, before.integers);
        const bool pads = std::any_of(format.levels().begin(), format.levels().end(),
                                      [](const Level& l) { return pads_with_entries(l.kind); });
        if (!pads || text == "csr" || text == "csc" || text == "ell(4)" || text == "bitmap") {
          EXPECT_EQ(after.stored, before.stored);
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, Storage,
                         testing::Values("dense", "coo", "csr", "csc", "dcsr", "dcsc", "csf",
                                         "bsr(2,3)", "bsc(2,3)", "dbsr(3,2)", "ell(4)", "dia",
                                         "ragged", "bitmap", "sr-bcrs(2,4)",
                                         "(i,j) -> (i-j: compressed, j: range)",
                                         "(i,j) -> (j: compressed, i: bitmap)",
                                         "(i,j) -> (i: dense, j: compressed multiple(3))",
                                         "(i,j) -> (j: compressed nonunique, i: singleton)",
                                         "(i,j) -> (i: dense, j/2: compressed, j%2: compressed)",
                                         "(i,j) -> (i: compressed nonunique, j: compressed)",
                                         "(i,j) -> (j: dense, i: dense)"));

TEST(Storage, Csr) {
  const StoredTensor stored =
      store(tensor({2, 3}, {1, _, 2, _, _, 3}), Format::parse("csr", 2), DType::Int32);
  const LevelStorage& columns = stored.pattern->levels()[1];
  std::vector<int64_t> pos, crd;
  for (int64_t at = 0; at < columns.pos.length; ++at)
    pos.push_back(columns.pos.at(at, DType::Int32));
  for (int64_t at = 0; at < columns.crd.length; ++at)
    crd.push_back(columns.crd.at(at, DType::Int32));
  EXPECT_EQ(pos, (std::vector<int64_t>{0, 2, 3}));
  EXPECT_EQ(crd, (std::vector<int64_t>{0, 2, 2}));
}

TEST(Storage, BlocksStoreTheirPadding) {
  const StoredTensor stored = store(tensor({3, 3}, {_, _, _, _, _, _, _, _, 5}),
                                    Format::parse("bsr(2,2)", 2), DType::Int32);
  EXPECT_EQ(stored.pattern->value_count(), 4);
  EXPECT_EQ(entries(spell_out(stored)), "_ _ _ _ _ _ _ _ 5");
}

TEST(Storage, DenseLevelsBelowSparseOnesAreFull) {
  const Format format = Format::parse("(i,j) -> (i: compressed, j: dense)", 2);
  const StoredTensor stored = store(tensor({2, 3}, {_, _, _, _, 5, _}), format, DType::Int32);
  EXPECT_EQ(stored.pattern->value_count(), 3);
  EXPECT_EQ(entries(spell_out(stored)), "_ _ _ 0 5 0");
}

TEST(Storage, SingletonsBelowRepeatingLevelsShareDenseLevels) {
  const Format format =
      Format::parse("(i,j,k) -> (i: compressed nonunique, j: singleton, k: dense)", 3);
  const StoredTensor stored = store(tensor({1, 2, 2}, {1, _, 2, 3}), format, DType::Int64);
  EXPECT_EQ(stored.pattern->value_count(), 4);
  EXPECT_EQ(entries(spell_out(stored)), "1 0 2 3");
}

TEST(Storage, DuplicatesAddUp) {
  const Format format = Format::parse("(i) -> (i: compressed nonunique)", 1);
  static const int32_t pos[] = {0, 3};
  static const int32_t crd[] = {1, 1, 2};
  const std::vector<float> values = {2, 3, 4};
  StoredTensor stored{.pattern = std::make_shared<const Pattern>(
                          format, std::vector<int64_t>{3}, DType::Int32,
                          std::vector<LevelStorage>{{{pos, 2, nullptr}, {crd, 3, nullptr}}}),
                      .type = DType::Float32};
  const auto* bytes = reinterpret_cast<const std::byte*>(values.data());
  stored.values.assign(bytes, bytes + values.size() * sizeof(float));
  EXPECT_EQ(entries(spell_out(stored)), "_ 5 4");
}

TEST(Storage, WhatDoesNotFitIsRefused) {
  const Format format = Format::parse("ell(1)", 2);
  EXPECT_NO_THROW(store(tensor({2, 2}, {1, _, _, 2}), format, DType::Int32));
  EXPECT_THROW(store(tensor({2, 2}, {1, 2, _, _}), format, DType::Int32), UserError);
}

}  // namespace
}  // namespace tulle::expr
