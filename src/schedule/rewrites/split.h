// Cuts a loop into blocks of a fixed length.
#pragma once

#include "schedule/schedule.h"

namespace tulle::schedule {

// Replaces every loop over `loop` by a loop over `outer` and a loop over `inner` directly inside
// it, with loop = outer * length + inner and inner < length. Subscripts keep the variable of the
// loop, except those of workspaces. Iterations past its extent are skipped. Legal for any variable.
// If a tensor holds only some of its coordinates, the kernel searches for each block; a remark says
// so.
Result<nest::Nest> split(const nest::Nest& nest, const Split& step, Remarks* remarks = nullptr);

}  // namespace tulle::schedule
