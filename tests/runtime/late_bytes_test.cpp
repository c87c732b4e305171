// Late sizes are counted once, in either order.
#include "runtime/late_bytes.h"

#include <gtest/gtest.h>

namespace tulle::runtime {
namespace {

TEST(LateBytes, AreCountedOnceInEitherOrder) {
  const auto total = std::make_shared<std::atomic<int64_t>>(5);
  LateBytes early, late;
  early.set(10);
  early.count_in(total);
  EXPECT_EQ(*total, 15);
  late.count_in(total);
  EXPECT_EQ(*total, 15);
  late.set(100);
  EXPECT_EQ(*total, 115);
}

}  // namespace
}  // namespace tulle::runtime
