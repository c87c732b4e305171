// Tensors spelled out and tensors stored in a format, and the way from each to the other; for
// tests.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "expr/reference.h"
#include "format/pattern.h"

namespace tulle::expr {

struct StoredTensor {
  std::shared_ptr<const Pattern> pattern;
  DType type = DType::Float32;
  std::vector<std::byte> values;
};

// Stores the coordinates that are marked as stored and what the format pads them with; brute force
// over all coordinates. UserError where the format cannot hold them.
StoredTensor store(const ReferenceTensor& tensor, const Format& format, DType index_type);

// Spells every coordinate out; duplicates add up, padding beyond the sizes is left out.
ReferenceTensor spell_out(const StoredTensor& tensor);

}  // namespace tulle::expr
