// Runs host programs on a GPU and in the interpreter.
#pragma once

#include <string>

#include "loop/interpret.h"

namespace tulle::gpu {

// The program's outputs on the GPU: results and writable parameters.
loop::Arrays run_on_gpu(const loop::HostProgram& program, const loop::Arrays& buffers,
                        const loop::Scalars& scalars);

// Expects that the GPU and the interpreter give the same results. Floating-point numbers may differ
// by `tolerance`, relative to the larger one.
void expect_same(const std::string& program_text, const loop::Arrays& buffers,
                 const loop::Scalars& scalars, double tolerance = 0);

// Small whole numbers that depend only on the seed.
loop::Array numbers(DType type, int64_t count, uint32_t seed);

}  // namespace tulle::gpu
