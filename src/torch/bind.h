// Points views of operands at the memory of PyTorch tensors.
#pragma once

#include <span>
#include <vector>

#include "programs.h"
#include "tensors.h"
#include "tulle/tulle.h"

namespace tulle::shim {

// A view with space for the sizes and levels of the operand.
TensorView empty_view(const TensorLayout& layout);

// Binds a plain operand to a row-major tensor. Throws UserError if the type or the rank is wrong.
void bind_plain(const TensorLayout& layout, AtenTensorHandle tensor, TensorView& view);

// The memory of a contiguous vector of that type; throws UserError for any other tensor.
ArraySpan vector_span(const TensorLayout& layout, AtenTensorHandle tensor, DType type);
// The memory of the structure arrays of any other operand. Throws UserError unless they are vectors
// of the right types.
std::vector<ArraySpan> spans_of(const TensorLayout& layout, std::span<const OwnedTensor> arrays);
// The memory of a vector of values of the operand's type; throws UserError for any other tensor.
ArraySpan values_of(const TensorLayout& layout, AtenTensorHandle values);

// Binds an operand that is not plain. Throws UserError if the parts of a composite one have more
// values than there are. `numbers` are the sizes, and the counts of the parts. The lengths and
// contents of the arrays are not checked.
void bind_sparse(const TensorLayout& layout, std::span<const ArraySpan> arrays, ArraySpan values,
                 const int64_t* numbers, TensorView& view);

// The elements of a vector of that many int64 numbers in host memory; throws UserError for any
// other tensor.
std::vector<int64_t> numbers_of(const std::string& name, AtenTensorHandle sizes, int64_t count);

// A tensor outside of a program.
struct Alone {
  std::vector<int64_t> numbers;
  std::vector<ArraySpan> arrays;
  ArraySpan values;
  TensorView view;
};
// `sizes` is a vector of its sizes, `tensors` its structure arrays and then its values. Throws
// UserError if a type or the number of tensors is wrong.
Alone bind_alone(const TensorLayout& layout, AtenTensorHandle sizes,
                 std::span<const OwnedTensor> tensors);

}  // namespace tulle::shim
