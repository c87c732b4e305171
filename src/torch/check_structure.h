// Checks structure from outside: arrays that the library does not hold.
#pragma once

#include <span>

#include "prepared.h"
#include "tensors.h"

namespace tulle::shim {

// Throws UserError unless the arrays are a valid structure of the operand with that many values.
// `numbers` are the sizes, and for a composite operand also the counts of the parts. Takes
// O(entries); arrays on a GPU are copied to the host.
void check_structure(const TensorLayout& layout, std::span<const OwnedTensor> arrays,
                     const int64_t* numbers, int64_t value_count);

}  // namespace tulle::shim
