// The exclusive prefix sum of a scan step.
#pragma once

#include <cstdint>
#include <string>

#include "support/parallelism.h"
#include "tulle/dtype.h"

namespace tulle::runtime {

// Replaces counts[0..length) by their exclusive prefix sums and writes the total to counts[length].
// Elements are i32 or i64. Raises a UserError that names the buffer if an i32 cannot hold the
// total.
void exclusive_scan(void* counts, DType element, int64_t length, const std::string& name,
                    Parallelism& parallelism);

}  // namespace tulle::runtime
