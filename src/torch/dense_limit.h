// The size limit of dense results.
#pragma once

#include <cstdint>
#include <span>

#include "prepared.h"

namespace tulle::shim {

// Sets the limit in bytes. Negative: half of the free memory at the time of a call.
void set_dense_limit(int64_t bytes);

// Throws UserError if a dense result of these sizes exceeds the limit. The message names the result
// unless it is the only one, since many callers do not name it. On a GPU only an explicit limit
// applies: running out of GPU memory is an error, whereas running out of host memory may stop the
// machine.
void check_dense_limit(const TensorLayout& result, bool is_only, std::span<const int64_t> sizes,
                       const Device& device = {});

}  // namespace tulle::shim
