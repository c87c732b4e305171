// Chooses between the CPU and the GPU program of an executable.
#include "driver/run_executable.h"

#include "driver/caller_parallelism.h"

namespace tulle {

void run_executable(const Executable& executable, std::span<void* const> buffers,
                    std::span<const int64_t> scalars, ResultMemory& memory,
                    const RunOptions& options, std::span<runtime::RunResult> results) {
  if (executable.gpu_program) {
    executable.gpu_program->run(buffers, scalars, memory, static_cast<cuda::Stream>(options.stream),
                                results);
  } else {
    CallerParallelism parallelism(options);
    executable.program->run(buffers, scalars, memory, parallelism, results);
  }
}

}  // namespace tulle
