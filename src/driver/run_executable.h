// Runs an executable on the caller's threads or stream.
#pragma once

#include <cstdint>
#include <span>

#include "driver/result_memory.h"
#include "kernels/executable.h"
#include "tulle/tulle.h"

namespace tulle {

void run_executable(const Executable& executable, std::span<void* const> buffers,
                    std::span<const int64_t> scalars, ResultMemory& memory,
                    const RunOptions& options, std::span<runtime::RunResult> results);

}  // namespace tulle
