// Checks tensors against the layouts of a program.
#include "bind.h"

#include <algorithm>
#include <string>

#include "devices.h"
#include "tulle/error.h"
#include "tulle/type_names.h"

namespace tulle::shim {

namespace {

[[noreturn]] void fail(const TensorLayout& layout, const std::string& what,
                       AtenTensorHandle tensor) {
  throw UserError(layout.spec.name + ": expected " + what + ", but found " + describe(tensor) +
                  ".");
}

void place_arrays(const TensorLayout& layout, std::span<const ArraySpan> arrays, TensorView& view) {
  for (size_t at = 0; at < layout.arrays.size(); ++at) {
    const ArrayPlace place = layout.arrays[at];
    LevelSpan& level = view.levels[place.level];
    (place.is_pos ? level.pos : level.crd) = arrays[at];
  }
}

[[noreturn]] void fail_counts(const TensorLayout& layout, ArraySpan values) {
  throw UserError(layout.spec.name + ": the parts do not have the " +
                  std::to_string(values.length) + " values that were given.");
}

// Divides the arrays and the value vector of a composite operand into those of its parts.
void bind_parts(const TensorLayout& layout, std::span<const ArraySpan> arrays, ArraySpan values,
                const int64_t* numbers, TensorView& view) {
  const int64_t* const counts = numbers + layout.spec.rank;
  int64_t first = 0, end = 0;
  for (size_t at = 0; at < layout.parts.size(); ++at) {
    const TensorLayout& part = layout.parts[at];
    place_arrays(part, arrays, view.parts[at]);
    arrays = arrays.subspan(part.arrays.size());
    first = (end + kPartStep - 1) / kPartStep * kPartStep;
    if (counts[at] < 0 || counts[at] > values.length - first) fail_counts(layout, values);
    end = first + counts[at];
    const auto* data = static_cast<const char*>(values.data);
    view.parts[at].values = {data + first * size_of(layout.spec.type), counts[at]};
  }
  if (end != values.length) fail_counts(layout, values);
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

ArraySpan vector_span(const TensorLayout& layout, AtenTensorHandle tensor, DType type) {
  if (!has_type(tensor, type) || rank_of(tensor) != 1 || !is_contiguous(tensor)) {
    fail(layout, "a contiguous vector of " + std::string(long_name_of(type)), tensor);
  }
  check_memory(layout.spec.name, tensor);
  return {data_of(tensor), element_count(tensor)};
}

std::vector<ArraySpan> spans_of(const TensorLayout& layout, std::span<const OwnedTensor> arrays) {
  std::vector<ArraySpan> spans;
  spans.reserve(arrays.size());
  for (size_t at = 0; at < arrays.size(); ++at) {
    spans.push_back(vector_span(layout, arrays[at].get(), layout.arrays[at].type));
  }
  return spans;
}

ArraySpan values_of(const TensorLayout& layout, AtenTensorHandle values) {
  return vector_span(layout, values, layout.spec.type);
}

void bind_sparse(const TensorLayout& layout, std::span<const ArraySpan> arrays, ArraySpan values,
                 const int64_t* numbers, TensorView& view) {
  std::copy_n(numbers, layout.spec.rank, view.sizes.begin());
  if (!layout.parts.empty()) {
    bind_parts(layout, arrays, values, numbers, view);
    return;
  }
  place_arrays(layout, arrays, view);
  view.values = values;
}

std::vector<int64_t> numbers_of(const std::string& name, AtenTensorHandle sizes, int64_t count) {
  if (!has_type(sizes, DType::Int64) || element_count(sizes) != count || !is_contiguous(sizes) ||
      device_of(sizes).is_cuda()) {
    throw UserError(name + ": expected " + std::to_string(count) + " int64 sizes, but found " +
                    describe(sizes) + ".");
  }
  check_memory(name, sizes);
  const auto* numbers = static_cast<const int64_t*>(data_of(sizes));
  return {numbers, numbers + count};
}

Alone bind_alone(const TensorLayout& layout, AtenTensorHandle sizes,
                 std::span<const OwnedTensor> tensors) {
  if (tensors.size() != layout.arrays.size() + 1) {
    throw UserError(layout.spec.name + ": expected " + std::to_string(layout.arrays.size() + 1) +
                    " tensors, but found " + std::to_string(tensors.size()) + ".");
  }
  Alone bound{numbers_of(layout.spec.name, sizes, static_cast<int64_t>(layout.number_count())),
              spans_of(layout, tensors.first(layout.arrays.size())),
              values_of(layout, tensors.back().get()), empty_view(layout)};
  bind_sparse(layout, bound.arrays, bound.values, bound.numbers.data(), bound.view);
  return bound;
}

}  // namespace tulle::shim
