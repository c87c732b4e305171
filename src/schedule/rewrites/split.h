// Cuts a loop into blocks of a fixed length.
#pragma once

#include "schedule/schedule.h"

namespace tulle::schedule {

// Every loop over `loop` becomes one over `outer` with one over `inner` directly in it:
// loop = outer * length + inner, inner < length. The subscripts keep the variable of the loop,
// except for those of workspaces, and iterations past its extent are left out. Legal for any
// variable; where a tensor holds only some of its coordinates each block is searched for, and there
// is a remark.
Result<nest::Nest> split(const nest::Nest& nest, const Split& step, Remarks* remarks = nullptr);

}  // namespace tulle::schedule
