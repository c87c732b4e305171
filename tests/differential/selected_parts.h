// Assigns entries to parts with lowering's program in the interpreter.
#pragma once

#include <iosfwd>
#include <vector>

#include "loop/host.h"
#include "loop/interpret.h"

namespace tulle::differential {

// Sorted entries of a tensor with these sizes, in the selectors' order of dimensions.
struct SortedEntries {
  std::vector<int64_t> sizes;
  std::vector<std::vector<int64_t>> coordinates;

  size_t count() const { return coordinates[0].size(); }
};

// The results of lower::select_parts.
struct SelectedParts {
  std::vector<int64_t> order, begins;
  bool operator==(const SelectedParts&) const = default;
};
std::ostream& operator<<(std::ostream& out, const SelectedParts& selected);

SelectedParts interpreted(const loop::HostProgram& program, const SortedEntries& entries,
                          DType index_type);

// Coordinates as an array of the type.
loop::Array array_of(const std::vector<int64_t>& values, DType type);

}  // namespace tulle::differential
