// Checks tensors against what a program expects of them.
#include "bind.h"

#include <algorithm>
#include <string>

#include "tulle/error.h"

namespace tulle::shim {

namespace {

[[noreturn]] void fail(const TensorLayout& layout, const std::string& what,
                       AtenTensorHandle tensor) {
  throw UserError(layout.spec.name + ": expected " + what + ", but found " + describe(tensor) +
                  ".");
}

ArraySpan vector_span(const TensorLayout& layout, AtenTensorHandle tensor, DType type) {
  if (!has_type(tensor, type) || rank_of(tensor) != 1 || !is_contiguous(tensor)) {
    fail(layout, "a contiguous vector of " + std::string(name_of(type)), tensor);
  }
  return {data_of(tensor), element_count(tensor)};
}

}  // namespace

TensorView empty_view(const TensorLayout& layout) {
  TensorView view;
  view.sizes.resize(static_cast<size_t>(layout.spec.rank));
  view.levels.resize(layout.levels.size());
  return view;
}

void bind_plain(const TensorLayout& layout, AtenTensorHandle tensor, TensorView& view) {
  if (!has_type(tensor, layout.spec.type) || rank_of(tensor) != layout.spec.rank) {
    fail(layout,
         "a dense tensor of " + std::string(name_of(layout.spec.type)) + " and rank " +
             std::to_string(layout.spec.rank),
         tensor);
  }
  std::copy_n(sizes_of(tensor), layout.spec.rank, view.sizes.begin());
  view.values = {data_of(tensor), element_count(tensor)};
}

void bind_sparse(const TensorLayout& layout, std::span<const OwnedTensor> tensors,
                 const int64_t* sizes, TensorView& view) {
  std::copy_n(sizes, layout.spec.rank, view.sizes.begin());
  for (size_t at = 0; at < layout.arrays.size(); ++at) {
    const ArrayPlace place = layout.arrays[at];
    LevelSpan& level = view.levels[place.level];
    (place.is_pos ? level.pos : level.crd) = vector_span(layout, tensors[at].get(), place.type);
  }
  view.values = vector_span(layout, tensors[layout.arrays.size()].get(), layout.spec.type);
}

}  // namespace tulle::shim
