// Giving entries out to parts by lowering's program, interpreted.
#pragma once

#include <iosfwd>
#include <vector>

#include "loop/host.h"
#include "loop/interpret.h"

namespace tulle::differential {

// Sorted entries of a tensor of these sizes, by dimension of what the selectors speak of.
struct SortedEntries {
  std::vector<int64_t> sizes;
  std::vector<std::vector<int64_t>> coordinates;

  size_t count() const { return coordinates[0].size(); }
};

// What lower::select_parts hands out.
struct SelectedParts {
  std::vector<int64_t> order, begins;
  bool operator==(const SelectedParts&) const = default;
};
std::ostream& operator<<(std::ostream& out, const SelectedParts& selected);

SelectedParts interpreted(const loop::HostProgram& program, const SortedEntries& entries,
                          DType index_type);

// Coordinates as the type stores them.
loop::Array array_of(const std::vector<int64_t>& values, DType type);

}  // namespace tulle::differential
