// Conversions between dense copies of tensors and tensors stored in a format; for tests.
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

// Stores the coordinates marked as stored and the padding of the format, by brute force over all
// coordinates. Throws UserError if the format cannot store them.
StoredTensor store(const ReferenceTensor& tensor, const Format& format, DType index_type);

// Makes a dense copy: sums duplicates and drops padding outside the sizes.
ReferenceTensor spell_out(const StoredTensor& tensor);

}  // namespace tulle::expr
