// The last stages of compiling: passes, codegen and jit, or what an earlier compilation left of
// them.
#pragma once

#include "compile.h"

namespace tulle {

// The program as lowering left it, ready to run.
Executable make_ready(LoweredProgram lowered, const CompileRequest& request,
                      const StageSink& sink = {});

// The program of an equal request of an earlier process, from its code on disk, without any of the
// stages; nothing where not all of that is there.
std::optional<Executable> make_known_ready(const CompileRequest& request);

}  // namespace tulle
