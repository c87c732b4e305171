// Runs numbered pieces of work on all cores of the process.
#pragma once

#include <cstddef>
#include <functional>

namespace tulle::differential {

// Calls `work` with each of 0 .. count-1 in several threads. Returns when all calls are done.
void on_all_cores(size_t count, const std::function<void(size_t)>& work);

}  // namespace tulle::differential
