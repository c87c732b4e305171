// What the loops are called that formats make of the indices of a statement.
#pragma once

#include <map>
#include <string>

namespace tulle::nest {

// Of an index that is stored in blocks: the loop over these, io, and the one inside, ir.
std::string outer_loop(const std::string& index);
std::string inner_loop(const std::string& index);
// Of one that is stored by its difference to another, as diagonals are: j_i.
std::string difference_loop(const std::string& index, const std::string& other);

// Indices by two names each, and all loops that formats may make of them likewise. An index has its
// name before such a loop.
std::map<std::string, std::string> with_loops_of_formats(
    const std::map<std::string, std::string>& indices);

}  // namespace tulle::nest
