// Random operands in composite formats.
#include <algorithm>
#include <cstring>

#include "differential/differential.h"
#include "differential/expected_parts.h"
#include "differential/selected_parts.h"
#include "expr/coordinates.h"
#include "format/composite.h"
#include "lower/programs/select_parts.h"
#include "support/check.h"

namespace tulle::differential {

using expr::ReferenceTensor;

namespace {

// A stored entry: its coordinates and its position in the dense copy.
struct Entry {
  std::vector<int64_t> coordinates;  // in the selectors' order of dimensions
  size_t place;
};

std::vector<Entry> sorted_entries(const ReferenceTensor& tensor, const std::vector<int>& order) {
  std::vector<Entry> entries;
  size_t at = 0;
  expr::for_each_coordinate(tensor.sizes, [&](const std::vector<int64_t>& coordinates) {
    const size_t place = at++;
    if (!tensor.stored[place]) return;
    Entry entry{{}, place};
    for (const int d : order) entry.coordinates.push_back(coordinates[static_cast<size_t>(d)]);
    entries.push_back(std::move(entry));
  });
  std::sort(entries.begin(), entries.end(),
            [](const Entry& a, const Entry& b) { return a.coordinates < b.coordinates; });
  return entries;
}

// The tensor with only these entries.
ReferenceTensor only(const ReferenceTensor& tensor, const std::vector<Entry>& entries,
                     const int64_t* chosen, int64_t count) {
  ReferenceTensor part = tensor;
  std::fill(part.stored.begin(), part.stored.end(), false);
  std::fill(part.floats.begin(), part.floats.end(), 0);
  std::fill(part.integers.begin(), part.integers.end(), 0);
  for (int64_t at = 0; at < count; ++at) {
    const size_t place = entries[static_cast<size_t>(chosen[at])].place;
    part.stored[place] = true;
    if (!part.floats.empty()) part.floats[place] = tensor.floats[place];
    if (!part.integers.empty()) part.integers[place] = tensor.integers[place];
  }
  return part;
}

}  // namespace

bool is_composite(const Operand& operand) { return CompositeFormat::is_composite(operand.format); }

std::vector<expr::StoredTensor> draw_parts(const Operand& operand, unsigned seed) {
  return parts_of(draw(operand, seed), operand);
}

std::vector<expr::StoredTensor> parts_of(const ReferenceTensor& tensor, const Operand& operand) {
  const auto format =
      CompositeFormat::parse(operand.format, static_cast<int>(operand.sizes.size()));
  const std::vector<Entry> entries = sorted_entries(tensor, format.order());
  SortedEntries sorted{{}, std::vector<std::vector<int64_t>>(operand.sizes.size())};
  for (const int d : format.order()) sorted.sizes.push_back(operand.sizes[static_cast<size_t>(d)]);
  for (const Entry& entry : entries) {
    for (size_t d = 0; d < sorted.coordinates.size(); ++d)
      sorted.coordinates[d].push_back(entry.coordinates[d]);
  }
  const auto [order, begins] =
      interpreted(lower::select_parts(format, DType::Int64, {Backend::Cpu}), sorted, DType::Int64);
  const ExpectedParts expected(format, sorted.sizes, sorted.coordinates);
  std::vector<expr::StoredTensor> parts;
  for (size_t p = 0; p < format.parts().size(); ++p) {
    const int64_t* first = order.data() + begins[p];
    const int64_t count = begins[p + 1] - begins[p];
    for (int64_t at = 0; at < count; ++at) {
      TULLE_CHECK(expected[static_cast<size_t>(first[at])] == static_cast<int>(p), "entry ",
                  first[at], " of ", operand.name, " is given to part ", p);
    }
    parts.push_back(expr::store(only(tensor, entries, first, count), format.parts()[p].format,
                                operand.index_type));
  }
  return parts;
}

ReferenceTensor spell_out_parts(const std::vector<expr::StoredTensor>& parts) {
  ReferenceTensor whole = expr::spell_out(parts.front());
  for (size_t p = 1; p < parts.size(); ++p) {
    const ReferenceTensor part = expr::spell_out(parts[p]);
    for (size_t at = 0; at < whole.stored.size(); ++at) {
      whole.stored[at] = whole.stored[at] || part.stored[at];
      if (!whole.floats.empty()) whole.floats[at] += part.floats[at];
      if (!whole.integers.empty()) whole.integers[at] += part.integers[at];
    }
  }
  return whole;
}

}  // namespace tulle::differential
