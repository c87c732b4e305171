// Samples the locality of coordinates.
#include "plan/statistics.h"

#include <algorithm>
#include <bit>
#include <bitset>
#include <cstring>

namespace tulle::plan {

namespace {

constexpr int64_t kWindow =
    4096;  // in entries; gathered rows of 256 bytes then fill a second-level cache of 1 MiB
constexpr int64_t kWindows = 8;
constexpr uint64_t kSlots = 1 << 16;

template <typename Index>
double sample(const Index* coordinates, int64_t count) {
  const int64_t window = std::min(count, kWindow);
  const int64_t windows = std::min(kWindows, count / window);
  thread_local std::bitset<kSlots> seen;
  int64_t distinct = 0;
  for (int64_t w = 0; w < windows; ++w) {
    const Index* begin = coordinates + (windows == 1 ? 0 : (count - window) / (windows - 1) * w);
    seen.reset();
    for (int64_t at = 0; at < window; ++at) {
      const uint64_t slot = (static_cast<uint64_t>(begin[at]) * 0x9e3779b97f4a7c15ULL) >> 48;
      if (!seen[slot]) {
        seen[slot] = true;
        ++distinct;
      }
    }
  }
  return static_cast<double>(distinct) / static_cast<double>(windows * window);
}

}  // namespace

Locality locality_of(double distinct_share) {
  if (distinct_share >= 0.4) return Locality::Scattered;
  return distinct_share >= 0.2 ? Locality::Mixed : Locality::Near;
}

std::string_view name_of(Locality locality) {
  switch (locality) {
    case Locality::Near:
      return "near";
    case Locality::Mixed:
      return "mixed";
    case Locality::Scattered:
      return "scattered";
  }
  return "";
}

double sample_distinct_share(const void* coordinates, int64_t count, DType index_type) {
  if (count == 0) return 0;
  if (index_type == DType::Int32) return sample(static_cast<const int32_t*>(coordinates), count);
  return sample(static_cast<const int64_t*>(coordinates), count);
}

double sample_marked_share(const void* marks, int64_t count) {
  // the bytes of a word, and the maximum number of words read in each call
  constexpr int64_t bytes = 8, most = 256;
  const int64_t words = std::min(most, count / bytes);
  const auto* begin = static_cast<const uint8_t*>(marks);
  if (words == 0) {
    const auto set = std::count(begin, begin + count, uint8_t{1});
    return count == 0 ? 0 : static_cast<double>(set) / static_cast<double>(count);
  }
  const int64_t apart = words == 1 ? 0 : (count - bytes) / (words - 1);
  int64_t set = 0;
  for (int64_t at = 0; at < words; ++at) {
    uint64_t word = 0;
    std::memcpy(&word, begin + at * apart, bytes);
    set += std::popcount(word & 0x0101010101010101ULL);
  }
  return static_cast<double>(set) / static_cast<double>(words * bytes);
}

uint64_t fingerprint(const void* coordinates, int64_t count, DType index_type) {
  constexpr int64_t parts = 4;
  uint64_t print = 0;
  for (int64_t part = 0; count > 0 && part <= parts; ++part) {
    const int64_t at = (count - 1) / parts * part;
    const int64_t coordinate = index_type == DType::Int32
                                   ? static_cast<const int32_t*>(coordinates)[at]
                                   : static_cast<const int64_t*>(coordinates)[at];
    print = (print ^ static_cast<uint64_t>(coordinate)) * 0x9e3779b97f4a7c15ULL + (print >> 29);
  }
  return print;
}

}  // namespace tulle::plan
