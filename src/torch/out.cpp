// Checks tensors for results.
#include "out.h"

#include <algorithm>
#include <cstdint>
#include <string>

#include "tulle/error.h"
#include "tulle/type_names.h"

namespace tulle::shim {

namespace {

struct Bytes {
  uintptr_t begin = 0, end = 0;
};

Bytes bytes_of(const void* data, int64_t bytes) {
  const auto begin = reinterpret_cast<uintptr_t>(data);
  return {begin, begin + static_cast<uintptr_t>(bytes)};
}

Bytes bytes_of(const ArraySpan& span, DType type) {
  return bytes_of(span.data, span.length * size_of(type));
}

Bytes bytes_of(AtenTensorHandle tensor) {
  return bytes_of(data_of(tensor), element_count(tensor) * element_size(tensor));
}

bool overlap(Bytes left, Bytes right) {
  return std::max(left.begin, right.begin) < std::min(left.end, right.end);
}

}  // namespace

void check_out(const TensorLayout& result, std::span<const int64_t> sizes, AtenTensorHandle out) {
  const TensorSpec& spec = result.spec;
  if (!result.is_plain) {
    throw UserError("out: the result '" + spec.name + "' is sparse (" + spec.format +
                    "), and only dense results can be written to an existing tensor; "
                    "omit out=, or ask for out_format=\"dense\".");
  }
  if (has_type(out, spec.type) && rank_of(out) == spec.rank &&
      std::equal(sizes.begin(), sizes.end(), sizes_of(out)) && is_contiguous(out)) {
    check_memory("out", out);
    return;
  }
  std::string wanted = std::string(long_name_of(spec.type)) + " [";
  for (size_t d = 0; d < sizes.size(); ++d) wanted += (d ? ", " : "") + std::to_string(sizes[d]);
  throw UserError("out: expected a contiguous tensor of " + wanted + "] for the result '" +
                  spec.name + "', but found " + describe(out) +
                  (is_contiguous(out) ? "." : ", which is not contiguous."));
}

bool reads_memory_of(AtenTensorHandle out, const TensorSpec& operand, const TensorView& view) {
  const Bytes written = bytes_of(out);
  if (std::any_of(view.parts.begin(), view.parts.end(),
                  [&](const TensorView& part) { return reads_memory_of(out, operand, part); })) {
    return true;
  }
  if (overlap(written, bytes_of(view.values, operand.type))) return true;
  return std::any_of(view.levels.begin(), view.levels.end(), [&](const LevelSpan& level) {
    return overlap(written, bytes_of(level.pos, operand.index_type)) ||
           overlap(written, bytes_of(level.crd, operand.index_type));
  });
}

bool share_memory(AtenTensorHandle left, AtenTensorHandle right) {
  return overlap(bytes_of(left), bytes_of(right));
}

}  // namespace tulle::shim
