// tulle::compute runs a program by its key. Compiled and exported programs contain this operator:
// a key is valid in any process.
#include <string>
#include <vector>

#include <torch/csrc/stable/library.h>

#include "boxing.h"
#include "call_frames.h"
#include "errors.h"
#include "out.h"
#include "programs.h"

namespace tulle::shim {

namespace {

// The number of the program, then the sizes, as call frames take them.
OwnedTensor head_of(std::string_view key, const std::vector<int64_t>& sizes) {
  const auto length = static_cast<int64_t>(sizes.size()) + 1;
  OwnedTensor head = new_tensor(DType::Int64, std::span(&length, 1));
  if (!head.get()) throw UserError("There is no memory left for the sizes of the operands.");
  auto* numbers = static_cast<int64_t*>(mutable_data_of(head.get()));
  numbers[0] = number_of_program(key);
  std::copy(sizes.begin(), sizes.end(), numbers + 1);
  return head;
}

// An array of a result that no operand owns: the results of an operator must not share memory with
// its arguments.
OwnedTensor unshared(OwnedTensor array, std::span<const OwnedTensor> tensors) {
  for (const OwnedTensor& tensor : tensors) {
    if (share_memory(array.get(), tensor.get())) return copied(array.get());
  }
  return array;
}

std::vector<OwnedTensor> compute(std::string_view key, const std::vector<int64_t>& sizes,
                                 std::span<const OwnedTensor> tensors) {
  const OwnedTensor head = head_of(key, sizes);
  CallFrame& frame = call_frame_of(head.get());
  const ClearAfterCall clear{frame};
  frame.bind(head.get(), tensors, 1);
  const std::vector<ResultTensor>& results = frame.run();
  std::vector<OwnedTensor> out;
  for (size_t at = 0; at < results.size(); ++at) {
    const TensorLayout& layout = frame.prepared().results[at];
    const bool has_own_pattern = layout.spec.like.empty();
    for (size_t array = 0; has_own_pattern && array < layout.arrays.size(); ++array) {
      out.push_back(unshared(frame.take_array(layout, array, results[at]), tensors));
    }
    out.push_back(unshared(frame.take_values(at, results[at]), tensors));
  }
  return out;
}

void compute_boxed(StableIValue* stack, uint64_t, uint64_t) {
  const StringArgument key(stack[0]);
  const std::vector<int64_t> sizes = take_numbers(stack[1]);
  const std::vector<OwnedTensor> tensors = take_list(stack[2]);
  stack[0] = with_named_errors([&] { return give_list(compute(key.view(), sizes, tensors)); });
}

}  // namespace

// `sizes` are the sizes of the operands that are not dense. The results are, one after the other:
// the structure arrays, unless the key implies that the entries are those of an operand (`describe`
// says so), and the values. `compute_traced` is the same operator for graphs that contain their
// gradients, so that autograd need not follow it.
STABLE_TORCH_LIBRARY_FRAGMENT(tulle, library) {
  library.def("compute(str key, SymInt[] sizes, Tensor[] tensors) -> Tensor[]");
  library.def("compute_traced(str key, SymInt[] sizes, Tensor[] tensors) -> Tensor[]");
}

STABLE_TORCH_LIBRARY_IMPL(tulle, CPU, library) {
  library.impl("compute", &compute_boxed);
  library.impl("compute_traced", &compute_boxed);
}
STABLE_TORCH_LIBRARY_IMPL(tulle, CUDA, library) {
  library.impl("compute", &compute_boxed);
  library.impl("compute_traced", &compute_boxed);
}

}  // namespace tulle::shim
