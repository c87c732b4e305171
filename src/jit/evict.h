// Keeps the cache directory below its size limit.
#pragma once

#include <cstdint>

#include "jit/private_directory.h"

namespace tulle::jit {

inline constexpr const char* kEntrySuffix = ".o";
inline constexpr const char* kTemporarySuffix = ".tmp";

// If the entries approach `limit` bytes, removes the least recently used ones until three quarters
// of the limit are left, and removes files that killed writers left behind. Leaves all other files
// alone. Other threads and processes may evict concurrently.
void evict(const Descriptor& directory, int64_t limit);

}  // namespace tulle::jit
