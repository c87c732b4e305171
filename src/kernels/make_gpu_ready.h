// The last stages of compiling for a GPU.
#pragma once

#include "kernels/code_request.h"
#include "kernels/executable.h"
#include "kernels/known_programs.h"

namespace tulle {

// The program as lowering left it, ready to run. Kernels that are found nowhere begin as light
// code, which is there in half the time; good code takes its place when it is made, in the
// background. What is shown, checked or large enough for slow code to cost more gets good code at
// once, and everything where TULLE_BACKGROUND is 0.
Executable make_gpu_ready(LoweredProgram lowered, const CodeRequest& request,
                          const StageSink& sink);

// The same for a program of an earlier process; nothing where not all of its code is there.
std::optional<Executable> make_known_gpu_ready(KnownProgram known, const CodeRequest& request);

}  // namespace tulle
