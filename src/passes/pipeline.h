// The ordered list of passes between lowering and code generation.
#pragma once

#include <functional>
#include <string_view>

#include "loop/host.h"
#include "support/remarks.h"

namespace tulle::passes {

struct PipelineOptions {
  bool masks = true;     // the target has masked loads and stores
  bool gpu = false;      // the program runs on a GPU
  bool light = false;    // code is to be ready soon: loops are not written out
  bool checked = false;  // bounds checks before every access
  bool verify = false;   // every pass must hand on a valid program
  // Called with the name of each pass and what it made of the program.
  std::function<void(std::string_view pass, const loop::HostProgram&)> after_pass;
};

struct PipelineResult {
  loop::HostProgram program;
  Remarks remarks;
};

// Replaces the steps that make kernels of their own on a GPU, scans and sorts: after it every
// kernel goes through the other passes by itself.
loop::HostProgram expand_steps(loop::HostProgram program);

// Runs all passes over all kernels of the program.
PipelineResult run_passes(loop::HostProgram program, const PipelineOptions& options = {});

// Runs the pass of that name alone; a UserError names those there are.
PipelineResult run_pass(std::string_view name, loop::HostProgram program,
                        const PipelineOptions& options = {});

}  // namespace tulle::passes
