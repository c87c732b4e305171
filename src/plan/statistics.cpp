// Sampling the locality of coordinates.
#include "plan/statistics.h"

#include <algorithm>
#include <bitset>

namespace tulle::plan {

namespace {

constexpr int64_t kWindow =
    4096;  // entries; gathered rows of 256 bytes fill a second cache of 1 MiB
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
  constexpr int64_t line = 64, most = 64;
  const auto* bytes = static_cast<const uint8_t*>(marks);
  const int64_t lines = std::clamp<int64_t>(count / line, 1, most), length = std::min(count, line);
  int64_t set = 0;
  for (int64_t at = 0; at < lines; ++at) {
    const uint8_t* begin = bytes + (lines == 1 ? 0 : (count - length) / (lines - 1) * at);
    set += std::count_if(begin, begin + length, [](uint8_t mark) { return mark != 0; });
  }
  return count == 0 ? 0 : static_cast<double>(set) / static_cast<double>(lines * length);
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
