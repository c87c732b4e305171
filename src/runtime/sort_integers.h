// Sorting a row's coordinates in place: short lists of integers in a narrow range.
#pragma once

#include <cstdint>

namespace tulle::runtime {

// Ascending. Never throws: without memory for a copy it sorts by comparison.
void sort_integers(int32_t* begin, int32_t* end) noexcept;
void sort_integers(int64_t* begin, int64_t* end) noexcept;

}  // namespace tulle::runtime
