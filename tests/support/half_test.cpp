// Halves: each one widens and narrows back; narrowing rounds to nearest, ties to even.
#include "support/half.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace tulle {
namespace {

constexpr DType kHalves[] = {DType::Float16, DType::BFloat16};

TEST(Half, EveryOneComesBack) {
  for (const DType type : kHalves) {
    for (int bits = 0; bits <= 0xffff; ++bits) {
      const double value = widen_half(type, static_cast<uint16_t>(bits));
      if (std::isnan(value)) {
        EXPECT_TRUE(std::isnan(round_to_half(type, value)));
      } else {
        EXPECT_EQ(narrow_to_half(type, value), bits) << name_of(type) << " " << value;
      }
    }
  }
}

// Values between neighbours, around the midpoint.
TEST(Half, RoundsToTheNearest) {
  for (const DType type : kHalves) {
    const int infinity = narrow_to_half(type, std::numeric_limits<double>::infinity());
    for (int bits = 0; bits + 1 < infinity; ++bits) {
      const double low = widen_half(type, static_cast<uint16_t>(bits));
      const double high = widen_half(type, static_cast<uint16_t>(bits + 1));
      const double middle = (low + high) / 2;
      EXPECT_EQ(narrow_to_half(type, std::nextafter(middle, 0)), bits);
      EXPECT_EQ(narrow_to_half(type, std::nextafter(middle, high)), bits + 1);
      EXPECT_EQ(narrow_to_half(type, middle), bits + bits % 2);
    }
  }
}

TEST(Half, OverflowsToInfinity) {
  EXPECT_EQ(narrow_to_half(DType::Float16, 65519), 0x7bff);
  EXPECT_EQ(narrow_to_half(DType::Float16, 65520), 0x7c00);
  EXPECT_EQ(narrow_to_half(DType::Float16, -1e300), 0xfc00);
  EXPECT_EQ(narrow_to_half(DType::BFloat16, 1e39), 0x7f80);
  EXPECT_EQ(narrow_to_half(DType::BFloat16, std::numeric_limits<float>::max()), 0x7f80);
  EXPECT_EQ(narrow_to_half(DType::Float16, -1e-300), 0x8000);
}

}  // namespace
}  // namespace tulle
