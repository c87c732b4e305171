// Tensors of the caller for results (out=).
#pragma once

#include <span>

#include "programs.h"
#include "tensors.h"
#include "tulle/tulle.h"

namespace tulle::shim {

// Throws UserError unless the result is plain and `out` is a row-major tensor of its type and
// sizes.
void check_out(const TensorLayout& result, std::span<const int64_t> sizes, AtenTensorHandle out);

// Whether an array of the operand overlaps `out`.
bool reads_memory_of(AtenTensorHandle out, const TensorSpec& operand, const TensorView& view);

// Whether two row-major tensors overlap.
bool share_memory(AtenTensorHandle left, AtenTensorHandle right);

}  // namespace tulle::shim
