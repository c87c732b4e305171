// Adds up the terms of long sums in chunks.
#pragma once

#include "loop/host.h"

namespace tulle::passes {

// The most terms that one accumulator adds up one after the other.
inline constexpr int64_t kTermsOfChunk = 512;

// A loop that adds to floating-point variables, and whose number of iterations has no constant
// bound, runs in chunks of `kTermsOfChunk` iterations (of each lane, if it is a vector loop). The
// sums of its chunks are added up with twice the precision. So the rounding error of a sum does not
// grow with its number of terms. Sums of a single chunk keep every bit.
//
// A loop inside a loop that adds to the same variable has a variable of its own for its sum.
//
// The same applies to sums that a loop also scales, as the sum of exponentials relative to a
// maximum that may grow. The loop scales the totals of the chunks before, too.
loop::Kernel chunk_sums(loop::Kernel kernel);

}  // namespace tulle::passes
