// tulle::select_parts: which entries of a tensor belong to which part of a composite format.
#include <vector>

#include <torch/csrc/stable/library.h>

#include "bind.h"
#include "boxing.h"
#include "errors.h"
#include "key.h"
#include "parallel.h"
#include "prepared.h"

namespace tulle::shim {

namespace {

OwnedTensor new_vector(int64_t length) {
  OwnedTensor tensor = new_tensor(DType::Int64, std::span(&length, 1));
  if (!tensor.get()) throw UserError("There is no memory left for the entries of parts.");
  return tensor;
}

int64_t* numbers_of(const OwnedTensor& tensor) {
  return static_cast<int64_t*>(mutable_data_of(tensor.get()));
}

// The numbers of the entries, part by part, and how many each part has.
std::vector<OwnedTensor> select(std::string_view format, std::string_view spec_text,
                                AtenTensorHandle sizes, std::span<const OwnedTensor> tensors) {
  const TensorLayout layout = layout_of(parse_spec("tensor " + std::string(spec_text)));
  if (element_count(sizes) != layout.spec.rank || !has_type(sizes, DType::Int64) ||
      !is_contiguous(sizes) || tensors.size() != layout.arrays.size() + 1) {
    throw UserError("Expected " + std::to_string(layout.spec.rank) + " sizes and " +
                    std::to_string(layout.arrays.size() + 1) + " tensors.");
  }
  TensorView view = empty_view(layout);
  bind_sparse(layout, tensors, static_cast<const int64_t*>(data_of(sizes)), view);
  const size_t parts = describe_format(format, layout.spec.rank).parts.size();
  std::vector<OwnedTensor> found;
  found.push_back(new_vector(view.values.length));
  found.push_back(new_vector(static_cast<int64_t>(parts)));
  select_parts(format, layout.spec, view, run_options(), numbers_of(found[0]),
               numbers_of(found[1]));
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

}  // namespace tulle::shim
