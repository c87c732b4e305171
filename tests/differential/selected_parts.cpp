// Runs the program.
#include "differential/selected_parts.h"

#include <ostream>

#include "support/check.h"

namespace tulle::differential {

std::ostream& operator<<(std::ostream& out, const SelectedParts& selected) {
  for (const auto* numbers : {&selected.order, &selected.begins}) {
    for (const int64_t number : *numbers) out << number << " ";
    out << "/ ";
  }
  return out;
}

SelectedParts interpreted(const loop::HostProgram& program, const SortedEntries& entries,
                          DType index_type) {
  loop::Arrays arrays;
  for (size_t d = 0; d < entries.coordinates.size(); ++d)
    arrays.emplace(concat("crd", d), array_of(entries.coordinates[d], index_type));
  const loop::Arrays found = loop::interpret(
      program, arrays,
      {{"count", static_cast<int64_t>(entries.count())}, {"columns", entries.sizes.back()}});
  return {loop::to_vector<int64_t>(found.at("order")),
          loop::to_vector<int64_t>(found.at("begins"))};
}

loop::Array array_of(const std::vector<int64_t>& values, DType type) {
  if (type == DType::Int64) return loop::to_array(type, values);
  return loop::to_array(type, std::vector<int32_t>(values.begin(), values.end()));
}

}  // namespace tulle::differential
