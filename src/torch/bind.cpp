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

[[noreturn]] void fail_length(const TensorLayout& layout, const std::string& what, int64_t found,
                              int64_t expected, const char* because) {
  throw UserError(layout.spec.name + ": " + what + " has " + std::to_string(found) +
                  " elements, but " + std::to_string(expected) + " are needed: " + because + ".");
}

int64_t extent_of(const FormatInfo::Level& level, int64_t size) {
  if (level.part == 'r') return level.divisor;
  return level.part == 'q' ? (size + level.divisor - 1) / level.divisor : size;
}

int64_t checked_product(const TensorLayout& layout, int64_t slots, int64_t extent) {
  int64_t product = 0;
  if (extent < 0 || __builtin_mul_overflow(slots, extent, &product)) {
    throw UserError(layout.spec.name + ": the sizes are negative or too large.");
  }
  return product;
}

void check_lengths(const TensorLayout& layout, const TensorView& view) {
  int64_t slots = 1;
  for (size_t at = 0; at < layout.levels.size(); ++at) {
    const FormatInfo::Level& level = layout.levels[at];
    const LevelSpan& span = view.levels[at];
    if (level.full) {
      const int64_t size = view.sizes[static_cast<size_t>(level.dimension)];
      slots = checked_product(layout, slots, extent_of(level, size));
    } else if (level.pos) {
      if (span.pos.length != slots + 1) {
        fail_length(layout, "pos of level " + std::to_string(at), span.pos.length, slots + 1,
                    "one more than the level above has slots");
      }
      slots = span.crd.length;
    } else if (span.crd.length != slots) {
      fail_length(layout, "crd of level " + std::to_string(at), span.crd.length, slots,
                  "one for each slot of the level above");
    }
  }
  if (view.values.length != slots) {
    fail_length(layout, "the vector of values", view.values.length, slots,
                "one for each stored entry");
  }
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
    (place.is_pos ? level.pos : level.crd) =
        vector_span(layout, tensors[at].get(), layout.spec.index_type);
  }
  view.values = vector_span(layout, tensors[layout.arrays.size()].get(), layout.spec.type);
  check_lengths(layout, view);
}

}  // namespace tulle::shim
