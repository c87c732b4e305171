// Sorts entries that were built as coordinates.
#pragma once

#include <string>

#include "loop/host.h"
#include "lower/options.h"
#include "nest/nest.h"

namespace tulle::lower {

// The number of leading levels by which the entries of a result, built as coordinates, must be
// sorted. The nest's loops produce the entries in order along the other levels, and a stable sort
// keeps that.
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
