// The last stages of compiling: passes, codegen and jit, or code from the kernel cache.
#pragma once

#include <optional>

#include "kernels/code_request.h"
#include "kernels/executable.h"

namespace tulle {

// Finds or generates the code of a lowered program.
Executable make_ready(LoweredProgram lowered, const CodeRequest& request,
                      const StageSink& sink = {});

// Loads the program that an earlier process stored under `request.program_key`, without running any
// stage. Nothing if the program, which has this many results, or some of its code is missing.
std::optional<Executable> make_known_ready(const CodeRequest& request, size_t results);

}  // namespace tulle
