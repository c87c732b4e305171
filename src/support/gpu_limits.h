// What the blocks of a GPU are made of.
#pragma once

namespace tulle {

inline constexpr int kWarpSize = 32;       // lanes
inline constexpr int kMostThreads = 1024;  // of one block

}  // namespace tulle
