// The last stages of compiling: passes, codegen and jit, or what an earlier compilation left of
// them.
#pragma once

#include "compile.h"

namespace tulle {

// The program as lowering left it, ready to run. The names of its results are the caller's matter.
Executable make_ready(loop::HostProgram lowered, const CompileRequest& request,
                      const StageSink& sink = {});

}  // namespace tulle
