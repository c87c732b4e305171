// The smallest operators: one that answers without tensors and one that reads and makes a tensor.
#include <string>

#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/tensor.h>
#include <torch/headeronly/util/Exception.h>

#include "tulle/version.h"

namespace {

using torch::headeronly::ScalarType;
using torch::stable::Tensor;

std::string version() { return tulle::version(); }

// The number of entries in each segment of a level's positions: [0, 2, 2, 5] gives [2, 0, 3].
Tensor segment_lengths(const Tensor& pos) {
  STD_TORCH_CHECK(pos.scalar_type() == ScalarType::Long, "pos: expected int64 positions");
  STD_TORCH_CHECK(pos.dim() == 1 && pos.is_contiguous(), "pos: expected a contiguous vector");
  STD_TORCH_CHECK(pos.size(0) > 0, "pos: expected at least one position, the leading 0");
  const int64_t size = pos.size(0) - 1;
  const int64_t stride = 1;
  AtenTensorHandle handle = nullptr;
  TORCH_ERROR_CODE_CHECK(aoti_torch_empty_strided(1, &size, &stride, aoti_torch_dtype_int64(),
                                                  aoti_torch_device_type_cpu(), 0, &handle));
  Tensor lengths(handle);
  const auto* from = pos.const_data_ptr<int64_t>();
  auto* to = lengths.mutable_data_ptr<int64_t>();
  for (int64_t segment = 0; segment < size; ++segment) {
    to[segment] = from[segment + 1] - from[segment];
  }
  return lengths;
}

}  // namespace

STABLE_TORCH_LIBRARY_FRAGMENT(tulle, library) {
  library.def("version() -> str");
  library.def("segment_lengths(Tensor pos) -> Tensor");
}

STABLE_TORCH_LIBRARY_IMPL(tulle, CompositeExplicitAutograd, library) {
  library.impl("version", TORCH_BOX(&version));
}

STABLE_TORCH_LIBRARY_IMPL(tulle, CPU, library) {
  library.impl("segment_lengths", TORCH_BOX(&segment_lengths));
}
