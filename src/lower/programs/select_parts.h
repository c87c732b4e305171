// Giving the entries of a tensor out to the parts of a composite format: a host program like any
// other.
#pragma once

#include "format/composite.h"
#include "loop/host.h"
#include "lower/options.h"

namespace tulle::lower {

// Takes the coordinates `crd0`, `crd1`, ... of `count` entries, sorted, one array for each
// dimension of what the selectors speak of (CompositeFormat::order), and `columns`, the size of the
// last of these. Hands out
//   order: i64[count], the numbers of the entries, part by part and in their order within each, and
//     behind them those that no part takes;
//   begins: i64[parts + 1], where each part begins in it, and where those begin that none takes.
// O(count log count) for each height of selectors and O(count) for each selector.
loop::HostProgram select_parts(const CompositeFormat& format, DType index_type,
                               const Options& options);

// Takes `order` and the entries that it numbers: `crd0`, `crd1`, ... and `values`. Hands out those
// whose numbers stand at [first, first + count) as a tensor of coordinates: `part_pos`,
// `part_crd0`, ... and `part_values`.
loop::HostProgram gather_entries(int rank, DType index_type, DType type, const Options& options);

}  // namespace tulle::lower
