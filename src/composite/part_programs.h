// Entries given out to the parts of a composite format, and those of each part gathered, by
// compiled programs.
#pragma once

#include "format/composite.h"
#include "tulle/tulle.h"

namespace tulle {

// What tulle::select_parts does, on the device of the options; the tensor has been checked.
SelectedEntries select_by_program(const CompositeFormat& format, const TensorSpec& spec,
                                  const TensorView& view, Memory& memory,
                                  const RunOptions& options);

// Those of the entries, in a format of coordinates alone, whose numbers stand at
// [first, first + count) of `order`, as a tensor of the same format in that order.
ResultTensor gather_by_program(const TensorSpec& spec, const TensorView& entries,
                               const ResultArray& order, int64_t first, int64_t count,
                               Memory& memory, const RunOptions& options);

}  // namespace tulle
