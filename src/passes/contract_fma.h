// Contracts products that are added into fused multiply-adds.
#pragma once

#include "loop/host.h"

namespace tulle::passes {

// Rewrites a * b + c, a * b - c and c - a * b of float32 and float64 to fma, which rounds once, in
// the interpreter as well as in compiled code. If both operands are products, the left one is
// fused.
loop::Kernel contract_fma(loop::Kernel kernel);

}  // namespace tulle::passes
