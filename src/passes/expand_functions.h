// Expands elementary functions into arithmetic.
#pragma once

#include "loop/host.h"
#include "support/backend.h"

namespace tulle::passes {

// Expands exp, log, expm1, log1p, tanh, sigmoid, cosh, sinh and erf of float32 and float64 into
// range reductions and polynomials. The code is free of branches, so that it vectorises, and runs
// on every machine. The error is at most 2 ulp; infinities, NaN, subnormal numbers and signed zeros
// behave as in IEEE 754. All other functions remain calls. On a GPU, exp of float32 uses the
// hardware's power of two instead of the polynomial.
loop::Kernel expand_functions(loop::Kernel kernel, Backend backend);

}  // namespace tulle::passes
