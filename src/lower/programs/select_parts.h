// A host program that assigns the entries of a tensor to the parts of a composite format.
#pragma once

#include "format/composite.h"
#include "loop/host.h"
#include "lower/options.h"

namespace tulle::lower {

// The inputs are the sorted coordinates `crd0`, `crd1`, ... of `count` entries, one array for each
// dimension of the selectors (CompositeFormat::order), and `columns`, the size of the last
// dimension. The results are
//   order: i64[count], the numbers of the entries, part by part, in the order of the entries within
//     each, and then the entries of no part;
//   begins: i64[parts + 1], the start of each part in it, and of the entries of no part.
// It takes O(count log count) for each height of selectors and O(count) for each selector.
loop::HostProgram select_parts(const CompositeFormat& format, DType index_type,
                               const Options& options);

// The inputs are `order` and the entries that it numbers: `crd0`, `crd1`, ... and `values`. The
// result is a tensor of coordinates with the entries whose numbers are at [first, first + count):
// `part_pos`, `part_crd0`, ... and `part_values`.
loop::HostProgram gather_entries(int rank, DType index_type, DType type, const Options& options);

}  // namespace tulle::lower
