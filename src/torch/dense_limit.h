// How large a dense result may become.
#pragma once

#include <cstdint>
#include <span>

#include "prepared.h"

namespace tulle::shim {

// In bytes; negative: half of the memory that is free when a result is made.
void set_dense_limit(int64_t bytes);

// UserError if a dense result of these sizes is over the limit; it is named where it is not the
// only one of its program, since many callers know no name for that. On a GPU there is none but
// one that was set: its memory runs out with an error, not with a stop of the machine.
void check_dense_limit(const TensorLayout& result, bool is_only, std::span<const int64_t> sizes,
                       const Device& device = {});

}  // namespace tulle::shim
