// Runs kernels written as text through a pass and through the interpreter.
#pragma once

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "loop/interpret.h"
#include "passes/pipeline.h"

namespace tulle::passes {

// A host program that takes what the kernel takes and launches it once.
loop::HostProgram program_of(const std::string& kernel_text);

// The kernel after one pass, verified, with the pass's remarks.
struct Transformed {
  std::string before;  // as text
  std::string after;
  Remarks remarks;
  loop::HostProgram program;

  bool has(const std::string& text) const { return after.find(text) != std::string::npos; }
};
Transformed transform(const std::string& pass, const std::string& kernel_text, bool masks = true,
                      Backend backend = Backend::Cpu);

// Interprets the kernel before and after the passes on the same inputs and expects the same
// results: to the last bit, or within `tolerance` of each other relative to the larger.
void expect_same_results(const std::vector<std::string>& passes, const std::string& kernel_text,
                         const loop::Arrays& buffers, const loop::Scalars& scalars,
                         double tolerance = 0, bool masks = true, Backend backend = Backend::Cpu);

// Interprets the kernel before and after run_passes with these options, verifying after every pass,
// and expects results within `tolerance` as above.
void expect_pipeline_keeps_results(const PipelineOptions& options, const std::string& kernel_text,
                                   const loop::Arrays& buffers, const loop::Scalars& scalars,
                                   double tolerance);

// Numbers that look random: halves between -8 and 8, never zero.
loop::Array floats(int64_t count, uint64_t seed = 1);
loop::Array doubles(int64_t count, uint64_t seed = 1);
// Integers in [0, below).
loop::Array indices(int64_t count, int64_t below, uint64_t seed = 1);

}  // namespace tulle::passes
