// Putting things together into groups of about the same size.
#pragma once

#include <cstddef>
#include <vector>

namespace tulle {

// The numbers of things of these sizes in at most so many groups, one at least, none of them empty:
// each goes to the group that has least so far, larger things before others.
std::vector<std::vector<size_t>> pack(const std::vector<size_t>& sizes, size_t groups);

}  // namespace tulle
