// Tensors of the caller's that results are written to.
#pragma once

#include <span>

#include "programs.h"
#include "tensors.h"
#include "tulle/tulle.h"

namespace tulle::shim {

// UserError unless the result is a plain one and `out` a row-major tensor of its type and sizes.
void check_out(const TensorLayout& result, std::span<const int64_t> sizes, AtenTensorHandle out);

// Whether an array of the operand lies in the memory of `out`.
bool reads_memory_of(AtenTensorHandle out, const TensorSpec& operand, const TensorView& view);

// Whether two row-major tensors have elements in common.
bool share_memory(AtenTensorHandle left, AtenTensorHandle right);

}  // namespace tulle::shim
