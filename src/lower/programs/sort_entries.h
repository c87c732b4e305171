// Bringing entries that were built as coordinates into order.
#pragma once

#include <string>

#include "loop/host.h"
#include "lower/options.h"
#include "nest/nest.h"

namespace tulle::lower {

// By how many of its levels, from the first on, the entries of a result that the nest builds as
// coordinates have to be sorted: along the others its loops bring them in order, and sorting keeps
// that.
size_t levels_to_sort(const nest::Nest& nest, const std::string& result);
// Sorts the entries of `from`, stored as unordered coordinates, by their first `levels` levels into
// `to`, which has the same levels.
struct Sorting {
  std::string from, to;
  size_t levels = 0;
};
// Appends steps that sort the entries. Equal coordinates become adjacent.
void sort_entries(const Sorting& sorting, const expr::TensorType& type, const Options& options,
                  loop::HostProgram& program);

}  // namespace tulle::lower
