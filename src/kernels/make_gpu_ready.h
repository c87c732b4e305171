// Turns a lowered program into an executable for a GPU.
#pragma once

#include "kernels/code_request.h"
#include "kernels/executable.h"
#include "kernels/known_programs.h"

namespace tulle {

// Kernels missing from the cache start as light code, which takes half the time to compile; a
// background thread compiles optimised code, which replaces it. The first code is optimised if the
// stages are shown, if the program is checked, if the operands or the plan's cost are so large that
// slow code would cost more than compiling, and if TULLE_BACKGROUND is 0.
Executable make_gpu_ready(LoweredProgram lowered, const CodeRequest& request,
                          const StageSink& sink);

// The same for a program stored by an earlier process. Nothing if some of its code is missing.
std::optional<Executable> make_known_gpu_ready(KnownProgram known, const CodeRequest& request);

}  // namespace tulle
