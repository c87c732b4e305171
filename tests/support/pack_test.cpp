// Partitions into groups of similar size.
#include "support/pack.h"

#include <gtest/gtest.h>

namespace tulle {
namespace {

using Groups = std::vector<std::vector<size_t>>;

TEST(Pack, NeedsNoGroupForNothing) { EXPECT_EQ(pack({}, 3), Groups()); }

TEST(Pack, BeginsWithTheLargest) { EXPECT_EQ(pack({3, 8, 4}, 2), (Groups{{1}, {2, 0}})); }

TEST(Pack, AddsToWhatHasLeast) {
  EXPECT_EQ(pack({5, 3, 10, 2, 6, 4}, 3), (Groups{{2}, {4, 1, 3}, {0, 5}}));
}

TEST(Pack, LeavesThingsAloneWhereThereAreGroupsEnough) {
  EXPECT_EQ(pack({7, 2, 9}, 5), (Groups{{2}, {0}, {1}}));
}

TEST(Pack, PutsAllIntoOneGroup) { EXPECT_EQ(pack({1, 2, 3}, 1), (Groups{{2, 1, 0}})); }

}  // namespace
}  // namespace tulle
