// Compiled programs that assign entries to the parts of a composite format and gather the entries
// of each part.
#pragma once

#include "format/composite.h"
#include "lower/options.h"
#include "tulle/tulle.h"

namespace tulle {

// Implements tulle::select_parts on the device of the options, for a checked tensor.
SelectedEntries select_by_program(const CompositeFormat& format, const TensorSpec& spec,
                                  const TensorView& view, Memory& memory, const RunOptions& options,
                                  const lower::ChunkLimits& limits = {});

// Gathers the entries whose numbers are in [first, first + count) of `order`. `entries` is in
// coordinate format; the result has the same format and the order of `order`.
ResultTensor gather_by_program(const TensorSpec& spec, const TensorView& entries,
                               const ResultArray& order, int64_t first, int64_t count,
                               Memory& memory, const RunOptions& options);

}  // namespace tulle
