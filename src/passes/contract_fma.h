// Turns products that are added into fused multiply-adds.
#pragma once

#include "loop/host.h"

namespace tulle::passes {

// a * b + c, a * b - c and c - a * b of float32 and float64 become fma: one rounding, the same in
// the interpreter and in compiled code. Where both sides are products the left one is fused.
loop::Kernel contract_fma(loop::Kernel kernel);

}  // namespace tulle::passes
