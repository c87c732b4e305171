// The exclusive prefix sum of a scan step.
#pragma once

#include <cstdint>
#include <string>

#include "support/parallelism.h"
#include "tulle/dtype.h"

namespace tulle::runtime {

// Turns counts[0..length) into where each starts, and counts[length] into the total. Elements are
// i32 or i64; a UserError that names the buffer if an i32 cannot hold the total.
void exclusive_scan(void* counts, DType element, int64_t length, const std::string& name,
                    Parallelism& parallelism);

}  // namespace tulle::runtime
