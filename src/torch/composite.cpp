// The operator tulle::select_parts: groups entries by the part of a composite format that takes
// them.
#include <algorithm>
#include <vector>

#include <torch/csrc/stable/library.h>

#include "bind.h"
#include "boxing.h"
#include "check_structure.h"
#include "devices.h"
#include "errors.h"
#include "key.h"
#include "memory.h"
#include "prepared.h"
#include "structures.h"

namespace tulle::shim {

namespace {

Device device_of_all(std::span<const OwnedTensor> tensors) {
  const Device device = device_of(tensors.front().get());
  for (const OwnedTensor& tensor : tensors) {
    if (device_of(tensor.get()) == device) continue;
    throw UserError("The arrays of a tensor are on two devices: " + to_string(device) + " and " +
                    to_string(device_of(tensor.get())) + ".");
  }
  return device;
}

// A vector of numbers in CPU memory.
OwnedTensor vector_of(const std::vector<int64_t>& numbers) {
  const auto length = static_cast<int64_t>(numbers.size());
  OwnedTensor tensor = new_tensor(DType::Int64, std::span(&length, 1));
  if (!tensor.get()) throw UserError("There is no memory left for the sizes of parts.");
  std::copy(numbers.begin(), numbers.end(), static_cast<int64_t*>(mutable_data_of(tensor.get())));
  return tensor;
}

// Returns the entry numbers, part by part, on the device of the tensor, and the number of entries
// of each part.
std::vector<OwnedTensor> select(std::string_view format, std::string_view spec_text,
                                AtenTensorHandle sizes, std::span<const OwnedTensor> tensors) {
  const TensorLayout layout = layout_of(parse_spec("tensor " + std::string(spec_text)));
  const Alone tensor = bind_alone(layout, sizes, tensors);  // there is at least one tensor
  const Device device = device_of_all(tensors);
  const auto known =
      known_arrays(layout, tensor.arrays, tensor.numbers.data(), tensor.values.length);
  if (!known) {
    check_structure(layout, tensors.first(layout.arrays.size()), tensor.numbers.data(),
                    tensor.values.length);
  }
  TorchMemory memory({});
  memory.set_device(device);
  const SelectedEntries selected =
      select_parts(format, layout.spec, tensor.view, memory, run_options_on(device));
  std::vector<OwnedTensor> found;
  found.push_back(memory.take(selected.order.handle));
  found.push_back(vector_of(selected.counts));
  return found;
}

void select_boxed(StableIValue* stack, uint64_t, uint64_t) {
  const StringArgument format(stack[0]), spec(stack[1]);
  const OwnedTensor sizes = take_tensor(stack[2]);
  const std::vector<OwnedTensor> tensors = take_list(stack[3]);
  stack[0] = with_named_errors(
      [&] { return give_list(select(format.view(), spec.view(), sizes.get(), tensors)); });
}

}  // namespace

STABLE_TORCH_LIBRARY_FRAGMENT(tulle, library) {
  library.def("select_parts(str format, str spec, Tensor sizes, Tensor[] tensors) -> Tensor[]");
}

STABLE_TORCH_LIBRARY_IMPL(tulle, CPU, library) { library.impl("select_parts", &select_boxed); }
STABLE_TORCH_LIBRARY_IMPL(tulle, CUDA, library) { library.impl("select_parts", &select_boxed); }

}  // namespace tulle::shim
