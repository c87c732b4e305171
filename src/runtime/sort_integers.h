// Sorts the coordinates of a row in place: short lists of integers in a narrow range.
#pragma once

#include <cstdint>

namespace tulle::runtime {

// Sorts in ascending order. Never throws: if a copy cannot be allocated, it sorts by comparison.
void sort_integers(int32_t* begin, int32_t* end) noexcept;
void sort_integers(int64_t* begin, int64_t* end) noexcept;

}  // namespace tulle::runtime
