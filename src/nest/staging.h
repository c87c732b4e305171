// Workspaces that hold copies of what is read of an operand (Tensor::Staging).
#pragma once

#include "nest/nest.h"

namespace tulle::nest {

// Bytes of shared memory that all staged copies of a block take at most.
inline constexpr int64_t kLargestShared = 64 << 10;

// Whether the statement fills a staged workspace; the statement without such ones around it.
bool is_staging(const Where& where, const Nest& nest);
Stmt without_staging(const Stmt& stmt, const Nest& nest);

}  // namespace tulle::nest
