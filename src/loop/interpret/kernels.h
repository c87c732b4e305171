// Runs one launch of a kernel.
#pragma once

#include <map>
#include <string>

#include "loop/interpret/buffer.h"

namespace tulle::loop {

// Runs the kernel on the buffers and scalars named like its parameters. `launch` numbers the
// launches of a program, starting at 1.
void run_kernel(const Kernel& kernel, std::map<std::string, InterpretedBuffer>& buffers,
                const std::map<std::string, Word>& scalars, uint32_t launch, int64_t most_steps);

}  // namespace tulle::loop
