// Workspaces that hold copies of parts of operands (Tensor::Staging).
#pragma once

#include "nest/nest.h"

namespace tulle::nest {

// The largest number of bytes of shared memory for all staged copies of a block.
inline constexpr int64_t kLargestShared = 64 << 10;

// Whether the statement fills a staged workspace; the statement without enclosing ones of that
// kind.
bool is_staging(const Where& where, const Nest& nest);
Stmt without_staging(const Stmt& stmt, const Nest& nest);

}  // namespace tulle::nest
