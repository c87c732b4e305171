// The names of the loops that formats derive from the indices of a statement.
#pragma once

#include <map>
#include <string>

namespace tulle::nest {

// For an index stored in blocks: the loop over blocks, i.outer, and the loop within a block,
// i.inner.
std::string outer_loop(const std::string& index);
std::string inner_loop(const std::string& index);
// For an index stored by its difference to another, as in diagonals: j.minus.i.
std::string difference_loop(const std::string& index, const std::string& other);

// Extends a map between two names of each index by the loops that formats may derive.
std::map<std::string, std::string> with_loops_of_formats(
    const std::map<std::string, std::string>& indices);

}  // namespace tulle::nest
