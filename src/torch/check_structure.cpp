// Validates structure on the host.
#include "check_structure.h"

#include <vector>

#include "bind.h"
#include "devices.h"
#include "parallel.h"
#include "tulle/error.h"

namespace tulle::shim {

namespace {

// Stands for values, which the checks do not read.
alignas(64) char unread[64];

OwnedTensor on_host(const TensorLayout& layout, const ArrayPlace& place, AtenTensorHandle array) {
  if (!device_of(array).is_cuda()) return same_tensor(array);
  const int64_t length = vector_span(layout, array, place.type).length;
  OwnedTensor copy = new_tensor(place.type, std::span(&length, 1));
  if (!copy.get()) throw UserError("There is no memory left for the check of a structure.");
  copy_elements(array, copy.get());
  return copy;
}

}  // namespace

void check_structure(const TensorLayout& layout, std::span<const OwnedTensor> arrays,
                     const int64_t* numbers, int64_t value_count) {
  std::vector<OwnedTensor> ours;
  for (size_t at = 0; at < arrays.size(); ++at) {
    ours.push_back(on_host(layout, layout.arrays[at], arrays[at].get()));
  }
  TensorView view = empty_view(layout);
  bind_sparse(layout, spans_of(layout, ours), {unread, value_count}, numbers, view);
  validate(layout.spec, view, run_options());
}

}  // namespace tulle::shim
