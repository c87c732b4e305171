// Putting things together into few groups of about the same size.
#pragma once

#include <cstddef>
#include <vector>

namespace tulle {

// The numbers of things of these sizes in groups, none of which is larger than the largest thing,
// the one with that first: each goes to the first group that has room, larger ones before others.
std::vector<std::vector<size_t>> pack(const std::vector<size_t>& sizes);

}  // namespace tulle
