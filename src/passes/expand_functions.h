// Writes elementary functions out as arithmetic.
#pragma once

#include "loop/host.h"
#include "support/backend.h"

namespace tulle::passes {

// exp, log, expm1, log1p, tanh, sigmoid, cosh, sinh and erf of float32 and float64 become range
// reductions and polynomials, without branches, so that they run in vectors and on every machine.
// Off by at most 2 units in the last place; infinities, NaN, subnormal numbers and signed zeros are
// as in IEEE 754. The other functions stay calls. On a GPU, exp of float32 takes its instruction
// for powers of two in place of the polynomial.
loop::Kernel expand_functions(loop::Kernel kernel, Backend backend);

}  // namespace tulle::passes
