// Which coordinates a format stores so that it can hold given entries.
#pragma once

#include <cstdint>
#include <vector>

#include "format/format.h"

namespace tulle::expr {

// The coordinate of each level at a coordinate of the tensor.
std::vector<int64_t> level_coordinates(const Format& format,
                                       const std::vector<int64_t>& coordinates);

// How many levels there are down to the last that stores coordinates; those below are full.
int sparse_level_count(const Format& format);

// Whether a tensor in this format may store more than given entries: the rest of a block, say.
bool stores_padding(const Format& format);

// The entries and what levels add that hold every coordinate, a band or whole rows: the rest of a
// block, say.
// Both are given for every coordinate in row-major order.
std::vector<bool> with_padding(const Format& format, const std::vector<int64_t>& sizes,
                               const std::vector<bool>& entries);

}  // namespace tulle::expr
