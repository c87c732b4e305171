// Points views of operands at PyTorch's tensors.
#pragma once

#include <span>

#include "programs.h"
#include "tensors.h"
#include "tulle/tulle.h"

namespace tulle::shim {

// A view with room for the operand's sizes and levels.
TensorView empty_view(const TensorLayout& layout);

// Of a plain operand: a row-major tensor of the right type and rank. UserError if it is another.
void bind_plain(const TensorLayout& layout, AtenTensorHandle tensor, TensorView& view);

// Of any other: its structure arrays, which are the first of the tensors, and its values, vectors
// of the right types, whose lengths agree with the sizes and with each other. UserError if they do
// not; what positions and coordinates say is not looked at.
void bind_sparse(const TensorLayout& layout, std::span<const OwnedTensor> tensors,
                 AtenTensorHandle values, const int64_t* sizes, TensorView& view);

}  // namespace tulle::shim
