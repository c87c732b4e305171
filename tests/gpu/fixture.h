// Runs host programs on a GPU and in the interpreter.
#pragma once

#include <string>

#include "loop/interpret.h"

namespace tulle::gpu {

// What the program hands back from the GPU: results and parameters that it may write.
loop::Arrays run_on_gpu(const loop::HostProgram& program, const loop::Arrays& buffers,
                        const loop::Scalars& scalars);

// Expects from the GPU what the interpreter gives; floating-point numbers within `tolerance`
// relative to the larger.
void expect_same(const std::string& program_text, const loop::Arrays& buffers,
                 const loop::Scalars& scalars, double tolerance = 0);

// Small whole numbers, the same for the same seed.
loop::Array numbers(DType type, int64_t count, uint32_t seed);

}  // namespace tulle::gpu
