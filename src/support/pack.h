// Partitions items into groups of similar total size.
#pragma once

#include <cstddef>
#include <vector>

namespace tulle {

// Distributes items of these sizes over at most `groups` groups (at least one), none of them empty,
// and returns the item numbers of each group. Larger items come first; each goes to the group with
// the smallest total so far.
std::vector<std::vector<size_t>> pack(const std::vector<size_t>& sizes, size_t groups);

}  // namespace tulle
