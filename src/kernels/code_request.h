// All inputs of a lowered program's compilation, except the program itself.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "codegen/target.h"
#include "jit/content_hash.h"
#include "loop/host.h"
#include "passes/pipeline.h"
#include "support/stage_sink.h"

namespace tulle {

struct CodeRequest {
  codegen::Target target;
  bool masked_vectors = true;  // the CPU has masked vector loads and stores
  bool checked = false;        // bounds checks before every access
  bool verify_passes = false;  // verify the program after every pass
  // Names of passes that do not run.
  std::vector<std::string> disabled_passes = passes::passes_disabled_by_environment();
  int host_threads = 1;        // threads for generating code
  int device = 0;              // the GPU's number
  int gpu_threads = 0;         // resident threads of the GPU
  int64_t operand_values = 0;  // stored values of all operands
  // Key of the program on disk; none: the program is not stored.
  std::optional<jit::ContentHash> program_key = std::nullopt;
  std::string title;  // for the log
};

passes::PipelineOptions pass_options(const CodeRequest& request);

// Runs the passes over the program.
loop::HostProgram optimise_program(loop::HostProgram program, const CodeRequest& request,
                                   const StageSink& sink = {});

}  // namespace tulle
