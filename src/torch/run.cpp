// tulle::run runs any program and returns all results. tulle::run_into writes some of them to
// existing tensors. tulle::explain returns the stages of a program for given operands.
#include <string>
#include <vector>

#include <torch/csrc/stable/library.h>

#include "boxing.h"
#include "call_frames.h"
#include "devices.h"
#include "errors.h"

namespace tulle::shim {

namespace {

OwnedTensor vector_of(const std::vector<int64_t>& numbers) {
  const auto length = static_cast<int64_t>(numbers.size());
  OwnedTensor tensor = new_tensor(DType::Int64, std::span(&length, 1));
  if (!tensor.get()) throw UserError("There is no memory left for the sizes of a result.");
  std::copy(numbers.begin(), numbers.end(), static_cast<int64_t*>(mutable_data_of(tensor.get())));
  return tensor;
}

// Returns each result as its sizes, its structure arrays and its values. `outs` are the tensors for
// the values of the results numbered by `which`.
std::vector<OwnedTensor> run(AtenTensorHandle head, std::span<const OwnedTensor> tensors,
                             std::span<const int64_t> which = {},
                             std::span<const OwnedTensor> outs = {}) {
  CallFrame& frame = call_frame_of(head);
  const ClearAfterCall clear{frame};
  frame.bind(head, tensors, 1);
  const auto result_count = static_cast<int64_t>(frame.prepared().results.size());
  for (size_t at = 0; at < which.size(); ++at) {
    if (which.size() != outs.size() || which[at] < 0 || which[at] >= result_count) {
      throw UserError("Expected for each tensor that takes a result the result's number, 0 to " +
                      std::to_string(result_count - 1) + ".");
    }
    frame.give(static_cast<size_t>(which[at]), outs[at].get());
  }
  const std::vector<ResultTensor>& results = frame.run();
  std::vector<OwnedTensor> out;
  for (size_t at = 0; at < results.size(); ++at) {
    const TensorLayout& layout = frame.prepared().results[at];
    out.push_back(vector_of(results[at].sizes));
    for (size_t array = 0; array < layout.arrays.size(); ++array) {
      out.push_back(frame.take_array(layout, array, results[at]));
    }
    out.push_back(frame.take_values(at, results[at]));
  }
  return out;
}

std::string explain(std::string_view key, AtenTensorHandle sizes,
                    std::span<const OwnedTensor> tensors) {
  CallFrame frame(find_program(key));
  frame.bind(sizes, tensors);
  return frame.prepared().program->explain(frame.views(), run_options_on(frame.device()));
}

void run_boxed(StableIValue* stack, uint64_t, uint64_t) {
  const OwnedTensor head = take_tensor(stack[0]);
  const std::vector<OwnedTensor> tensors = take_list(stack[1]);
  stack[0] = with_named_errors([&] { return give_list(run(head.get(), tensors)); });
}

void run_into_boxed(StableIValue* stack, uint64_t, uint64_t) {
  const OwnedTensor head = take_tensor(stack[0]);
  const std::vector<OwnedTensor> tensors = take_list(stack[1]);
  const std::vector<int64_t> which = take_numbers(stack[2]);
  const std::vector<OwnedTensor> outs = take_list(stack[3]);
  stack[0] = with_named_errors([&] { return give_list(run(head.get(), tensors, which, outs)); });
}

void explain_boxed(StableIValue* stack, uint64_t, uint64_t) {
  const StringArgument key(stack[0]);
  const OwnedTensor sizes = take_tensor(stack[1]);
  const std::vector<OwnedTensor> tensors = take_list(stack[2]);
  stack[0] =
      with_named_errors([&] { return give_string(explain(key.view(), sizes.get(), tensors)); });
}

}  // namespace

STABLE_TORCH_LIBRARY_FRAGMENT(tulle, library) {
  library.def("run(Tensor head, Tensor[] tensors) -> Tensor[]");
  library.def(
      "run_into(Tensor head, Tensor[] tensors, int[] which, Tensor(a!)[] outs) -> Tensor[]");
  library.def("explain(str key, Tensor sizes, Tensor[] tensors) -> str");
}

namespace {

void implement(torch::stable::detail::StableLibrary& library) {
  library.impl("run", &run_boxed);
  library.impl("run_into", &run_into_boxed);
  library.impl("explain", &explain_boxed);
}

}  // namespace

STABLE_TORCH_LIBRARY_IMPL(tulle, CPU, library) { implement(library); }
STABLE_TORCH_LIBRARY_IMPL(tulle, CUDA, library) { implement(library); }

}  // namespace tulle::shim
