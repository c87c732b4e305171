// Parallel validation finds the same first fault as serial validation, wherever pieces end.
#include <algorithm>
#include <thread>

#include <gtest/gtest.h>

#include "format/pattern.h"
#include "tulle/error.h"

namespace tulle {
namespace {

// Starts new threads for every call, the last index first.
class Threads final : public Parallelism {
 public:
  explicit Threads(int count) : count_(count) {}
  int threads() const override { return count_; }
  void run(int count, void (*task)(void* data, int index), void* data) override {
    most_pieces = std::max(most_pieces, count);
    std::vector<std::thread> threads;
    for (int index = count - 1; index >= 0; --index) threads.emplace_back(task, data, index);
    for (std::thread& thread : threads) thread.join();
  }
  int most_pieces = 0;

 private:
  int count_;
};

constexpr int64_t kRows = 60000, kInRow = 5, kSlots = kRows * kInRow, kColumns = 64;
constexpr int kThreads = 3;
constexpr const char* kUnorderedCsr = "(i,j) -> (i: dense, j: compressed unordered)";
constexpr const char* kUnorderedCoo =
    "(i,j) -> (i: compressed nonunique unordered, j: singleton unordered)";

// Every row has kInRow entries: columns 3, 6, 9, 12, 15.
struct Arrays {
  std::vector<int64_t> positions, rows, columns;

  Arrays() {
    for (int64_t row = 0; row <= kRows; ++row) positions.push_back(row * kInRow);
    for (int64_t slot = 0; slot < kSlots; ++slot) {
      rows.push_back(slot / kInRow);
      columns.push_back(3 * (slot % kInRow) + 3);
    }
  }
};

ArrayView view(const std::vector<int64_t>& elements) {
  return {elements.data(), static_cast<int64_t>(elements.size()), nullptr};
}

Pattern compressed_rows(const Arrays& arrays, const char* format = "csr") {
  return {Format::parse(format, 2),
          {kRows, kColumns},
          DType::Int64,
          {{}, {view(arrays.positions), view(arrays.columns)}}};
}

Pattern coordinates(const Arrays& arrays, const char* format = "coo") {
  static const std::vector<int64_t> bounds = {0, kSlots};
  return {Format::parse(format, 2),
          {kRows, kColumns},
          DType::Int64,
          {{view(bounds), view(arrays.rows)}, {{}, view(arrays.columns)}}};
}

// The message for the pattern, from one thread and from several.
std::string message(const Pattern& pattern) {
  const auto found = [&](Parallelism& parallelism) -> std::string {
    try {
      validate(pattern, "A", parallelism);
      return {};
    } catch (const UserError& error) {
      return error.what();
    }
  };
  NoParallelism serial;
  Threads threads(kThreads);
  const std::string expected = found(serial);
  EXPECT_EQ(found(threads), expected);
  EXPECT_EQ(threads.most_pieces, kThreads);
  return expected;
}

void expect_says(const Pattern& pattern, const std::string& part) {
  const std::string text = message(pattern);
  EXPECT_TRUE(text.find(part) != std::string::npos) << "expected " << part << ", found: " << text;
}

// The first and last slots of all pieces, their neighbours, and some slots in between.
std::vector<int64_t> places() {
  std::vector<int64_t> places = {1, 7, kSlots / 2, kSlots - 2};
  for (int piece = 1; piece < kThreads; ++piece) {
    for (int64_t beside = -2; beside <= 2; ++beside) {
      places.push_back(kSlots * piece / kThreads + beside);
    }
  }
  return places;
}

std::string crd(int64_t at, int64_t value) {
  return "crd[" + std::to_string(at) + "] = " + std::to_string(value);
}

std::string slots(int64_t first, int64_t second) {
  return "slots " + std::to_string(first) + " and " + std::to_string(second) + " have the same";
}

TEST(ParallelValidate, SoundStructurePasses) {
  const Arrays arrays;
  for (const char* format : {"csr", kUnorderedCsr}) {
    EXPECT_EQ(message(compressed_rows(arrays, format)), "");
  }
  for (const char* format : {"coo", kUnorderedCoo}) {
    EXPECT_EQ(message(coordinates(arrays, format)), "");
  }
}

TEST(ParallelValidate, CoordinatesOutOfRange) {
  for (const int64_t at : places()) {
    Arrays arrays;
    arrays.columns[static_cast<size_t>(at)] = kColumns;
    const std::string said = crd(at, kColumns) + " is outside";
    expect_says(compressed_rows(arrays), said);
    expect_says(compressed_rows(arrays, kUnorderedCsr), said);
    expect_says(coordinates(arrays), said);
  }
}

TEST(ParallelValidate, CoordinatesOutOfOrder) {
  for (const int64_t at : places()) {
    Arrays arrays;
    arrays.columns[static_cast<size_t>(at)] = 0;
    if (at % kInRow == 0) {  // the first slot of a row has no predecessor
      EXPECT_EQ(message(compressed_rows(arrays)), "");
      EXPECT_EQ(message(coordinates(arrays)), "");
    } else {
      expect_says(compressed_rows(arrays), crd(at, 0) + " follows");
      expect_says(coordinates(arrays), crd(at, 0) + " follows");
    }
    arrays.rows[static_cast<size_t>(at)] = 0;
    if (at >= kInRow) expect_says(coordinates(arrays), crd(at, 0) + " follows");
  }
}

TEST(ParallelValidate, RepeatedCoordinates) {
  for (const int64_t at : places()) {
    if (at % kInRow == 0) continue;
    Arrays arrays;
    arrays.columns[static_cast<size_t>(at)] = arrays.columns[static_cast<size_t>(at - 1)];
    for (const char* format : {"csr", kUnorderedCsr}) {
      expect_says(compressed_rows(arrays, format), slots(at - 1, at));
    }
    for (const char* format : {"coo", kUnorderedCoo}) {
      expect_says(coordinates(arrays, format), slots(at - 1, at));
    }
  }
}

TEST(ParallelValidate, RepeatedCoordinatesFarApart) {
  for (const int64_t at : places()) {
    if (at < kInRow) continue;
    Arrays arrays;
    arrays.rows[static_cast<size_t>(at)] = 0;
    arrays.columns[static_cast<size_t>(at)] = arrays.columns[2];
    expect_says(coordinates(arrays, kUnorderedCoo), slots(2, at));
    // A later repeated slot is not the first fault.
    arrays.rows.back() = 0;
    arrays.columns.back() = arrays.columns[1];
    expect_says(coordinates(arrays, kUnorderedCoo), slots(2, at));
  }
}

TEST(ParallelValidate, PositionsThatDescend) {
  for (int piece = 1; piece < kThreads; ++piece) {
    for (int64_t beside = -2; beside <= 2; ++beside) {
      Arrays arrays;
      const int64_t at = kRows * piece / kThreads + beside;
      arrays.positions[static_cast<size_t>(at)] -= kInRow + 1;
      expect_says(compressed_rows(arrays), "pos[" + std::to_string(at) + "] = ");
    }
  }
}

TEST(ParallelValidate, TheFirstOfSeveralFaultsIsReported) {
  Arrays arrays;
  arrays.columns[static_cast<size_t>(kSlots - 3)] = kColumns;
  arrays.columns[static_cast<size_t>(kSlots / 2)] = -1;
  arrays.columns[4] = 0;  // out of order, which is checked later
  expect_says(compressed_rows(arrays), crd(kSlots / 2, -1) + " is outside");
  expect_says(coordinates(arrays), crd(kSlots / 2, -1) + " is outside");
}

TEST(ParallelValidate, UnusedSlotsInFrontOfOthers) {
  for (const int64_t at : places()) {
    if (at % kInRow == 0) continue;
    Arrays arrays;
    arrays.columns[static_cast<size_t>(at - 1)] = kUnused;
    const Pattern padded(Format::parse("ell(5)", 2), {kRows, kColumns}, DType::Int64,
                         {{}, {{}, view(arrays.columns)}});
    expect_says(padded, crd(at, 3 * (at % kInRow) + 3) + " follows the unused slot");
  }
}

}  // namespace
}  // namespace tulle
