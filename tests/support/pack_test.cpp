// Things in groups.
#include "support/pack.h"

#include <gtest/gtest.h>

namespace tulle {
namespace {

using Groups = std::vector<std::vector<size_t>>;

TEST(Pack, NeedsNoGroupForNothing) { EXPECT_EQ(pack({}), Groups()); }

TEST(Pack, BeginsWithTheLargest) { EXPECT_EQ(pack({3, 8, 4}), (Groups{{1}, {2, 0}})); }

TEST(Pack, FillsGroupsUpToTheLargest) {
  EXPECT_EQ(pack({5, 3, 10, 2, 6, 4}), (Groups{{2}, {4, 5}, {0, 1, 3}}));
}

TEST(Pack, KeepsThingsOfOneSizeApartAndInOrder) {
  EXPECT_EQ(pack({7, 7, 7}), (Groups{{0}, {1}, {2}}));
}

TEST(Pack, TakesThingsOfNoSize) { EXPECT_EQ(pack({0, 0}), (Groups{{0, 1}})); }

}  // namespace
}  // namespace tulle
