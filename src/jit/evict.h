// Keeps the cache's directory below its limit.
#pragma once

#include <cstdint>

#include "jit/private_directory.h"

namespace tulle::jit {

inline constexpr const char* kEntrySuffix = ".o";
inline constexpr const char* kTemporarySuffix = ".tmp";

// If the entries come near `limit` bytes, removes those used longest ago until three quarters are
// left; removes what killed writers left behind. Touches no file that is not the cache's; others
// may do the same at the same time.
void evict(const Descriptor& directory, int64_t limit);

}  // namespace tulle::jit
