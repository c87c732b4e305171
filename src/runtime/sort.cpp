// Packs keys into 64-bit words as tightly as their ranges allow and sorts the words digit by digit.
#include "runtime/sort.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

#include "runtime/heap.h"
#include "support/check.h"

namespace tulle::runtime {

namespace {

constexpr int64_t kSerialBelow = 1 << 15;
constexpr int kMostDigitBits = 11;

// A key minus its lowest value, and the number of bits of the difference.
struct Digits {
  SortKey key;
  int64_t lowest = 0;
  int bits = 0;

  uint64_t operator()(int64_t index) const {
    const int64_t value = key.element == DType::Int32
                              ? static_cast<const int32_t*>(key.data)[index]
                              : static_cast<const int64_t*>(key.data)[index];
    return static_cast<uint64_t>(value) - static_cast<uint64_t>(lowest);
  }
};

// Splits [0, length) into one block per thread.
struct Blocks {
  int64_t length;
  int count;
  Parallelism& parallelism;

  int64_t begin(int block) const { return length * block / count; }
  int64_t end(int block) const { return length * (block + 1) / count; }
  template <typename Body>
  void each(Body&& body) const {
    parallel_for(parallelism, count, [&](int block) { body(block, begin(block), end(block)); });
  }
};

template <typename T>
Digits measure(SortKey key, const Blocks& blocks) {
  const auto* values = static_cast<const T*>(key.data);
  std::vector<std::pair<T, T>> ranges(static_cast<size_t>(blocks.count), {values[0], values[0]});
  blocks.each([&](int block, int64_t begin, int64_t end) {
    T low = values[0], high = values[0];
    for (int64_t i = begin; i < end; ++i) {
      low = std::min(low, values[i]);
      high = std::max(high, values[i]);
    }
    ranges[static_cast<size_t>(block)] = {low, high};
  });
  auto [low, high] = ranges[0];
  for (const auto& range : ranges) {
    low = std::min(low, range.first);
    high = std::max(high, range.second);
  }
  const uint64_t extent = static_cast<uint64_t>(static_cast<int64_t>(high)) -
                          static_cast<uint64_t>(static_cast<int64_t>(low));
  return {key, low, static_cast<int>(std::bit_width(extent))};
}

struct KeyAndIndex {
  uint64_t word;
  int64_t index;
};
uint64_t word_of(KeyAndIndex record) { return record.word; }
uint64_t word_of(uint64_t record) { return record; }

// One stable pass over the digit at `shift`.
template <typename Record>
void scatter_by_digit(const Record* from, Record* to, int shift, int digit_bits,
                      const Blocks& blocks, std::vector<int64_t>& places) {
  const auto buckets = size_t{1} << digit_bits;
  const uint64_t mask = buckets - 1;
  places.assign(buckets * static_cast<size_t>(blocks.count), 0);
  blocks.each([&](int block, int64_t begin, int64_t end) {
    int64_t* counts = &places[buckets * static_cast<size_t>(block)];
    for (int64_t i = begin; i < end; ++i) ++counts[(word_of(from[i]) >> shift) & mask];
  });
  int64_t place = 0;
  for (size_t bucket = 0; bucket < buckets; ++bucket) {
    for (size_t block = 0; block < static_cast<size_t>(blocks.count); ++block) {
      int64_t& count = places[buckets * block + bucket];
      count = std::exchange(place, place + count);
    }
  }
  blocks.each([&](int block, int64_t begin, int64_t end) {
    int64_t* next = &places[buckets * static_cast<size_t>(block)];
    for (int64_t i = begin; i < end; ++i) to[next[(word_of(from[i]) >> shift) & mask]++] = from[i];
  });
}

// Sorts by bits [low, high) of the words. Returns the array that holds the result: `records` or
// `spare`.
template <typename Record>
Record* radix_sort(Record* records, Record* spare, int low, int high, const Blocks& blocks) {
  // A short list does not pay for many buckets.
  const int length_bits = std::bit_width(static_cast<uint64_t>(blocks.length));
  const int digit_bits = std::clamp(length_bits, 4, kMostDigitBits);
  const int passes = (high - low + digit_bits - 1) / digit_bits;
  std::vector<int64_t> places;
  for (int pass = 0; pass < passes; ++pass) {
    const int shift = low + (high - low) * pass / passes;
    const int next = low + (high - low) * (pass + 1) / passes;
    scatter_by_digit(records, spare, shift, next - shift, blocks, places);
    std::swap(records, spare);
  }
  return records;
}

// The word of one element: the digits of all keys of the group, the last one in the lowest bits.
uint64_t pack(const std::vector<Digits>& group, int64_t index) {
  uint64_t word = 0;
  for (const Digits& digits : group)
    word = (digits.bits < 64 ? word << digits.bits : 0) | digits(index);
  return word;
}

bool is_sorted(const int64_t* order, const std::vector<Digits>& group, int64_t length) {
  uint64_t last = 0;
  for (int64_t i = 0; i < length; ++i) {
    const uint64_t word = pack(group, order[i]);
    if (word < last) return false;
    last = word;
  }
  return true;
}

// Sorts `order` by keys that fit into one word together.
void sort_by_group(int64_t* order, const std::vector<Digits>& group, int bits,
                   const Blocks& blocks) {
  const int64_t length = blocks.length;
  if (is_sorted(order, group, length)) return;
  const int index_bits = std::bit_width(static_cast<uint64_t>(length - 1));
  if (bits + index_bits <= 64) {
    // The element's index goes into the same word.
    const HeapArray<uint64_t> records(length), spare(length);
    blocks.each([&](int, int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        records[i] = pack(group, order[i]) << index_bits | static_cast<uint64_t>(order[i]);
      }
    });
    const uint64_t* sorted =
        radix_sort(records.data(), spare.data(), index_bits, index_bits + bits, blocks);
    const uint64_t mask = (uint64_t{1} << index_bits) - 1;
    blocks.each([&](int, int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) order[i] = static_cast<int64_t>(sorted[i] & mask);
    });
    return;
  }
  const HeapArray<KeyAndIndex> records(length), spare(length);
  blocks.each([&](int, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) records[i] = {pack(group, order[i]), order[i]};
  });
  const KeyAndIndex* sorted = radix_sort(records.data(), spare.data(), 0, bits, blocks);
  blocks.each([&](int, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) order[i] = sorted[i].index;
  });
}

}  // namespace

void sort_permutation(int64_t* order, const std::vector<SortKey>& keys, int64_t length,
                      Parallelism& parallelism) {
  TULLE_CHECK(length >= 0, "a sort of ", length, " elements");
  std::iota(order, order + length, int64_t{0});
  if (length < 2) return;
  const Blocks blocks{length, length < kSerialBelow ? 1 : parallelism.threads(), parallelism};
  std::vector<Digits> group;  // keys that remain to be sorted by, most significant first
  int bits = 0;
  const auto sort_group = [&] {
    if (!group.empty()) sort_by_group(order, group, bits, blocks);
    group.clear();
    bits = 0;
  };
  for (size_t k = keys.size(); k-- > 0;) {
    TULLE_CHECK(is_integer(keys[k].element), "a sort by ", name_of(keys[k].element));
    const Digits digits = keys[k].element == DType::Int32 ? measure<int32_t>(keys[k], blocks)
                                                          : measure<int64_t>(keys[k], blocks);
    if (bits + digits.bits > 64) sort_group();
    group.insert(group.begin(), digits);
    bits += digits.bits;
  }
  sort_group();
}

}  // namespace tulle::runtime
