// The sizes of warps and blocks of a GPU.
#pragma once

namespace tulle {

inline constexpr int kWarpSize = 32;       // lanes per warp
inline constexpr int kMostThreads = 1024;  // per block

}  // namespace tulle
