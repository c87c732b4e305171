// Points views of operands at the memory of PyTorch tensors.
#pragma once

#include <span>

#include "programs.h"
#include "tensors.h"
#include "tulle/tulle.h"

namespace tulle::shim {

// A view with space for the sizes and levels of the operand.
TensorView empty_view(const TensorLayout& layout);

// Binds a plain operand to a row-major tensor. Throws UserError if the type or the rank is wrong.
void bind_plain(const TensorLayout& layout, AtenTensorHandle tensor, TensorView& view);

// Binds any other operand: `tensors` begins with its structure arrays; these and the values must be
// vectors of the right types. Throws UserError if a type or a length is wrong; the contents of
// positions and coordinates are not checked.
void bind_sparse(const TensorLayout& layout, std::span<const OwnedTensor> tensors,
                 AtenTensorHandle values, const int64_t* sizes, TensorView& view);

// The view of a tensor outside a program: `sizes` is a vector of its sizes, `tensors` its structure
// arrays and then its values. Throws UserError like bind_sparse().
TensorView bind_alone(const TensorLayout& layout, AtenTensorHandle sizes,
                      std::span<const OwnedTensor> tensors);

}  // namespace tulle::shim
