// Caches arrays derived from the structure of tensors, for the whole process.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace tulle {

// The arrays cached on that GPU under this name; empty if there are none. They stay valid until the
// structure is forgotten.
std::span<void* const> find_kept(uint64_t structure, int device, const std::string& what);

// Caches arrays of `bytes` bytes in total; `release` frees them. If another thread was faster, both
// copies are cached.
void keep_arrays(uint64_t structure, int device, const std::string& what,
                 std::span<void* const> arrays, int64_t bytes,
                 std::vector<std::function<void()>> release);

}  // namespace tulle
