// Work in numbered pieces, on every core that the process may use.
#pragma once

#include <cstddef>
#include <functional>

namespace tulle::differential {

// Calls `work` with each of 0 .. count-1, in threads; returns when all are done.
void on_all_cores(size_t count, const std::function<void(size_t)>& work);

}  // namespace tulle::differential
