// Values of the interpreter: one 64-bit word a lane, and the arithmetic on runs of them.
#pragma once

#include <cstddef>

#include "loop/expr.h"

namespace tulle::loop {

// Integers are kept sign-extended and bools as 0 or 1; what is narrower than an f64 is kept
// as the double of the same value.
union Word {
  int64_t i;
  double f;
};

Word read_word(DType type, const std::byte* from);
void write_word(DType type, Word value, std::byte* to);

// out[k] = a[k] op b[k] of operands of the type, wrapped or rounded to it.
void apply(BinaryOp op, DType type, const Word* a, const Word* b, Word* out, size_t count);

// out[k] = function(args[0][k], ...)
void apply(Function function, DType type, const Word* const* args, Word* out, size_t count);

// Floating point to integers truncates and saturates.
void convert(DType from, DType to, const Word* in, Word* out, size_t count);

Word combine(ReduceOp op, DType type, Word a, Word b);

// Combines values[0..count) as a tree: halves with halves, as lanes do.
Word reduce(ReduceOp op, DType type, const Word* values, size_t count);

}  // namespace tulle::loop
