// Values of the interpreter: one 64-bit word per lane, and arithmetic on arrays of words.
#pragma once

#include <cstddef>

#include "loop/expr.h"

namespace tulle::loop {

// Integers are stored sign-extended, bools as 0 or 1, and floating-point types narrower than f64 as
// the double of the same value.
union Word {
  int64_t i;
  double f;
};

Word read_word(DType type, const std::byte* from);
void write_word(DType type, Word value, std::byte* to);

// out[k] = a[k] op b[k], wrapped or rounded to the type.
void apply(BinaryOp op, DType type, const Word* a, const Word* b, Word* out, size_t count);

// out[k] = function(args[0][k], ...)
void apply(Function function, DType type, const Word* const* args, Word* out, size_t count);

// Conversions from floating point to integers truncate and saturate.
void convert(DType from, DType to, const Word* in, Word* out, size_t count);

Word combine(ReduceOp op, DType type, Word a, Word b);

// Combines values[0..count) as a tree of halves, like the lanes of a GPU.
Word reduce(ReduceOp op, DType type, const Word* values, size_t count);

}  // namespace tulle::loop
