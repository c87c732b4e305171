// Runs a pass over kernels written as text and interprets the result.
#pragma once

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "loop/interpret.h"
#include "passes/pipeline.h"

namespace tulle::passes {

// A host program with the kernel's parameters that launches the kernel once.
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

// Interprets the kernel before and after the passes on the same inputs and expects equal results:
// bitwise, or within the relative `tolerance`.
void expect_same_results(const std::vector<std::string>& passes, const std::string& kernel_text,
                         const loop::Arrays& buffers, const loop::Scalars& scalars,
                         double tolerance = 0, bool masks = true, Backend backend = Backend::Cpu);

// The same for run_passes with these options and verification after every pass.
void expect_pipeline_keeps_results(const PipelineOptions& options, const std::string& kernel_text,
                                   const loop::Arrays& buffers, const loop::Scalars& scalars,
                                   double tolerance);

// Pseudorandom numbers: multiples of 0.5 between -8 and 8, never zero.
loop::Array floats(int64_t count, uint64_t seed = 1);
loop::Array doubles(int64_t count, uint64_t seed = 1);
// Integers in [0, below).
loop::Array indices(int64_t count, int64_t below, uint64_t seed = 1);

}  // namespace tulle::passes
