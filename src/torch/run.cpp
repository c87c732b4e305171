// tulle::run: any program, all of its results. tulle::explain: the stages of a program for given
// operands.
#include <vector>

#include <torch/csrc/stable/library.h>

#include "boxing.h"
#include "errors.h"
#include "frame.h"

namespace tulle::shim {

namespace {

OwnedTensor vector_of(const std::vector<int64_t>& numbers) {
  const auto length = static_cast<int64_t>(numbers.size());
  OwnedTensor tensor = new_tensor(DType::Int64, std::span(&length, 1));
  if (!tensor.get()) throw UserError("There is no memory left for the sizes of a result.");
  std::copy(numbers.begin(), numbers.end(), static_cast<int64_t*>(mutable_data_of(tensor.get())));
  return tensor;
}

// Each result as its sizes, its structure arrays and its values.
std::vector<OwnedTensor> run(std::string_view key, AtenTensorHandle sizes,
                             std::span<const OwnedTensor> tensors) {
  // Not the thread's frame: the call is long against setting one up, and only call() is worth
  // keeping one for.
  Frame frame(find_program(key));
  frame.bind(sizes, tensors);
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
  Frame frame(find_program(key));
  frame.bind(sizes, tensors);
  return frame.prepared().program->explain(frame.views());
}

void run_boxed(StableIValue* stack, uint64_t, uint64_t) {
  const StringArgument key(stack[0]);
  const OwnedTensor sizes = take_tensor(stack[1]);
  const std::vector<OwnedTensor> tensors = take_list(stack[2]);
  stack[0] = with_named_errors([&] { return give_list(run(key.view(), sizes.get(), tensors)); });
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
  library.def("run(str key, Tensor sizes, Tensor[] tensors) -> Tensor[]");
  library.def("explain(str key, Tensor sizes, Tensor[] tensors) -> str");
}

STABLE_TORCH_LIBRARY_IMPL(tulle, CPU, library) {
  library.impl("run", &run_boxed);
  library.impl("explain", &explain_boxed);
}

}  // namespace tulle::shim
