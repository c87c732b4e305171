// A lowered host program, and the same program with loaded code.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "jit/engine.h"
#include "jit/gpu_module.h"
#include "loop/host.h"
#include "runtime/gpu_run.h"
#include "runtime/run.h"

namespace tulle {

// Locates one result in the host program's list of result buffers: structure by level, then values.
struct ResultLayout {
  std::string tensor;
  std::string shared_operand;  // the operand that owns the structure; empty: the result owns it
  std::vector<int> pos, crd;   // indices into HostProgram::results, -1 where the level stores none
  int values = -1;
};

struct LoweredProgram {
  loop::HostProgram program;
  std::vector<ResultLayout> results;
  double cost = 0;  // the plan's estimate
};

// A program ready to run. Holds its code so that the code stays loaded.
struct Executable {
  // Either the CPU members or the GPU members are set.
  std::vector<std::shared_ptr<const jit::LoadedObject>> code;  // of the kernels
  std::unique_ptr<const runtime::CompiledProgram> program;
  std::vector<std::shared_ptr<const jit::GpuModule>> gpu_code;  // of each kernel
  std::shared_ptr<runtime::GpuProgram> gpu_program;
  int gpu_threads = 0;                        // resident threads of the GPU
  std::vector<std::string> buffers, scalars;  // parameter names, in order
  std::vector<ResultLayout> results;

  size_t result_count() const {
    return gpu_program ? gpu_program->result_count() : program->result_count();
  }
  int64_t code_bytes() const;
};

}  // namespace tulle
