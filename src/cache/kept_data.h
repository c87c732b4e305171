// What was made of the structure of tensors and is kept for later runs, process-wide.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace tulle {

// The arrays that are kept on that GPU under this name; none where they are not. They stay until
// the structure is forgotten.
std::span<void* const> find_kept(uint64_t structure, int device, const std::string& what);

// Keeps arrays of so many bytes in all; `release` gives them back. Where another thread was first,
// both are kept.
void keep_arrays(uint64_t structure, int device, const std::string& what,
                 std::span<void* const> arrays, int64_t bytes,
                 std::vector<std::function<void()>> release);

}  // namespace tulle
