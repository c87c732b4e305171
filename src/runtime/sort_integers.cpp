// Radix sort for long lists with a narrow range, otherwise a comparison sort.
#include "runtime/sort_integers.h"

#include <algorithm>
#include <array>
#include <bit>
#include <type_traits>
#include <utility>

#include "runtime/worker.h"

namespace tulle::runtime {

namespace {

constexpr int64_t kShort = 48;  // shorter lists are faster to sort by comparison
constexpr int kMostBits = 40;   // and so are wider ranges
constexpr int kDigitBits = 8;
constexpr size_t kBuckets = size_t{1} << kDigitBits;

// One stable pass over the digit at `shift`.
template <typename T, typename U>
void pass(const T* from, T* to, int64_t length, U lowest, int shift) {
  std::array<uint32_t, kBuckets> next{};
  const auto digit = [&](T value) {
    return ((static_cast<U>(value) - lowest) >> shift) & (kBuckets - 1);
  };
  for (int64_t i = 0; i < length; ++i) ++next[digit(from[i])];
  uint32_t place = 0;
  for (uint32_t& count : next) {
    const uint32_t here = count;
    count = place;
    place += here;
  }
  for (int64_t i = 0; i < length; ++i) to[next[digit(from[i])]++] = from[i];
}

template <typename T>
void sort(T* begin, T* end) noexcept {
  using U = std::make_unsigned_t<T>;
  const int64_t length = end - begin;
  if (length < kShort || length > UINT32_MAX) return std::sort(begin, end);
  T low = begin[0], high = begin[0];
  bool sorted = true;
  for (int64_t i = 1; i < length; ++i) {
    sorted &= begin[i - 1] <= begin[i];
    low = std::min(low, begin[i]);
    high = std::max(high, begin[i]);
  }
  if (sorted) return;
  const auto lowest = static_cast<U>(low);
  const int bits = std::bit_width(static_cast<U>(static_cast<U>(high) - lowest));
  loop::WorkerContext& worker = this_worker();
  const auto copy = [&] {
    return worker.allocate(length * static_cast<int64_t>(sizeof(T)), false);
  };
  T* spare = bits > kMostBits ? nullptr : static_cast<T*>(copy());
  if (!spare) return std::sort(begin, end);
  T *from = begin, *to = spare;
  for (int shift = 0; shift < bits; shift += kDigitBits) {
    pass(from, to, length, lowest, shift);
    std::swap(from, to);
  }
  if (from != begin) std::copy(from, from + length, begin);
  worker.release(spare);
}

}  // namespace

void sort_integers(int32_t* begin, int32_t* end) noexcept { sort(begin, end); }
void sort_integers(int64_t* begin, int64_t* end) noexcept { sort(begin, end); }

}  // namespace tulle::runtime
