// Checks tensors against the layouts of a program.
#include "bind.h"

#include <algorithm>
#include <string>

#include "tulle/error.h"
#include "tulle/type_names.h"

namespace tulle::shim {

namespace {

[[noreturn]] void fail(const TensorLayout& layout, const std::string& what,
                       AtenTensorHandle tensor) {
  throw UserError(layout.spec.name + ": expected " + what + ", but found " + describe(tensor) +
                  ".");
}

ArraySpan vector_span(const TensorLayout& layout, AtenTensorHandle tensor, DType type) {
  if (!has_type(tensor, type) || rank_of(tensor) != 1 || !is_contiguous(tensor)) {
    fail(layout, "a contiguous vector of " + std::string(long_name_of(type)), tensor);
  }
  return {data_of(tensor), element_count(tensor)};
}

void bind_arrays(const TensorLayout& layout, std::span<const OwnedTensor> tensors,
                 TensorView& view) {
  for (size_t at = 0; at < layout.arrays.size(); ++at) {
    const ArrayPlace place = layout.arrays[at];
    LevelSpan& level = view.levels[place.level];
    (place.is_pos ? level.pos : level.crd) = vector_span(layout, tensors[at].get(), place.type);
  }
}

// Divides the value vector of a composite operand into the values of its parts.
void bind_parts(const TensorLayout& layout, std::span<const OwnedTensor> tensors,
                AtenTensorHandle values, const int64_t* counts, TensorView& view) {
  const ArraySpan all = vector_span(layout, values, layout.spec.type);
  int64_t first = 0;
  for (size_t at = 0; at < layout.parts.size(); ++at) {
    const TensorLayout& part = layout.parts[at];
    bind_arrays(part, tensors, view.parts[at]);
    tensors = tensors.subspan(part.arrays.size());
    if (counts[at] < 0 || counts[at] > all.length - first) {
      throw UserError(layout.spec.name + ": the parts have more values than the " +
                      std::to_string(all.length) + " that were given.");
    }
    const auto* data = static_cast<const char*>(all.data);
    view.parts[at].values = {data + first * size_of(layout.spec.type), counts[at]};
    first = std::min(all.length, first + (counts[at] + kPartStep - 1) / kPartStep * kPartStep);
  }
}

}  // namespace

TensorView empty_view(const TensorLayout& layout) {
  TensorView view;
  for (const TensorLayout& part : layout.parts) view.parts.push_back(empty_view(part));
  view.sizes.resize(static_cast<size_t>(layout.spec.rank));
  view.levels.resize(layout.levels.size());
  return view;
}

void bind_plain(const TensorLayout& layout, AtenTensorHandle tensor, TensorView& view) {
  if (!has_type(tensor, layout.spec.type) || rank_of(tensor) != layout.spec.rank) {
    fail(layout,
         "a dense tensor of " + std::string(long_name_of(layout.spec.type)) + " and rank " +
             std::to_string(layout.spec.rank),
         tensor);
  }
  std::copy_n(sizes_of(tensor), layout.spec.rank, view.sizes.begin());
  view.values = {data_of(tensor), element_count(tensor)};
}

void bind_sparse(const TensorLayout& layout, std::span<const OwnedTensor> tensors,
                 AtenTensorHandle values, const int64_t* sizes, TensorView& view) {
  std::copy_n(sizes, layout.spec.rank, view.sizes.begin());
  if (!layout.parts.empty()) {
    bind_parts(layout, tensors, values, sizes + layout.spec.rank, view);
    return;
  }
  bind_arrays(layout, tensors, view);
  view.values = vector_span(layout, values, layout.spec.type);
}

TensorView bind_alone(const TensorLayout& layout, AtenTensorHandle sizes,
                      std::span<const OwnedTensor> tensors) {
  if (element_count(sizes) != layout.spec.rank || !has_type(sizes, DType::Int64) ||
      !is_contiguous(sizes) || tensors.size() != layout.arrays.size() + 1) {
    throw UserError(layout.spec.name + ": expected " + std::to_string(layout.spec.rank) +
                    " sizes and " + std::to_string(layout.arrays.size() + 1) + " tensors.");
  }
  TensorView view = empty_view(layout);
  bind_sparse(layout, tensors, tensors.back().get(), static_cast<const int64_t*>(data_of(sizes)),
              view);
  return view;
}

}  // namespace tulle::shim
