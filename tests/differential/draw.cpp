// Random operands.
#include <algorithm>
#include <cstring>
#include <random>

#include "differential/differential.h"
#include "expr/coordinates.h"
#include "support/check.h"
#include "support/half.h"

namespace tulle::differential {

using expr::ReferenceTensor;
using expr::StoredTensor;

namespace {

Format format_of(const Operand& operand) {
  return Format::parse(operand.format, static_cast<int>(operand.sizes.size()));
}

// Whether the coordinate is in a slice that stays empty: every second slice of the first and last
// dimension.
bool in_empty_row(const std::vector<int64_t>& coordinates) {
  return !coordinates.empty() && (coordinates.front() % 2 == 0 || coordinates.back() % 3 == 1);
}

// Whether the format is one compressed level followed by singletons, all of whole dimensions.
bool is_list(const Format& format) {
  if (format.level_count() == 0) return false;
  for (int l = 0; l < format.level_count(); ++l) {
    const Level& level = format.levels()[static_cast<size_t>(l)];
    if (level.kind != (l == 0 ? LevelKind::Compressed : LevelKind::Singleton)) return false;
    if (level.expr.part != LevelExpr::Part::Whole) return false;
  }
  return true;
}

// Two values that add up to a given one.
struct Entry {
  std::vector<int64_t> coordinates;
  double real;
  int64_t integer;
};

std::vector<Entry> entries_of(const ReferenceTensor& tensor) {
  std::vector<Entry> entries;
  size_t at = 0;
  expr::for_each_coordinate(tensor.sizes, [&](const std::vector<int64_t>& coordinates) {
    const size_t here = at++;
    if (!tensor.stored[here]) return;
    const bool real = is_float(tensor.type);
    entries.push_back(
        {coordinates, real ? tensor.floats[here] : 0, real ? 0 : tensor.integers[here]});
  });
  return entries;
}

void repeat_some(std::vector<Entry>& entries, DType type, std::mt19937& random) {
  std::bernoulli_distribution repeats(0.4);
  for (size_t e = 0, count = entries.size(); e < count; ++e) {
    if (!repeats(random)) continue;
    Entry second = entries[e];
    second.real = 0.5;
    second.integer = type == DType::Bool ? entries[e].integer : 1;
    entries[e].real -= 0.5;
    if (type != DType::Bool) entries[e].integer -= 1;
    entries.push_back(second);
  }
}

template <typename T>
void put(std::vector<std::byte>& bytes, T value) {
  const size_t at = bytes.size();
  bytes.resize(at + sizeof(T));
  std::memcpy(bytes.data() + at, &value, sizeof(T));
}

void put_index(std::vector<std::byte>& bytes, DType type, int64_t value) {
  if (type == DType::Int32) {
    put(bytes, static_cast<int32_t>(value));
  } else {
    put(bytes, value);
  }
}

void put_value(std::vector<std::byte>& bytes, DType type, const Entry& entry) {
  switch (type) {
    case DType::Float32:
      return put(bytes, static_cast<float>(entry.real));
    case DType::Float64:
      return put(bytes, entry.real);
    case DType::Int32:
      return put(bytes, static_cast<int32_t>(entry.integer));
    case DType::Int64:
      return put(bytes, entry.integer);
    case DType::Bool:
      return put(bytes, static_cast<uint8_t>(entry.integer));
    case DType::Float16:
    case DType::BFloat16:
      return put(bytes, narrow_to_half(type, entry.real));
  }
}

ArrayView own(std::vector<std::byte> bytes, int64_t length) {
  auto owner = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
  return {owner->data(), length, owner};
}

StoredTensor store_list(const std::vector<Entry>& entries, const Format& format,
                        const Operand& operand) {
  const auto count = static_cast<int64_t>(entries.size());
  std::vector<LevelStorage> levels;
  for (const Level& level : format.levels()) {
    std::vector<std::byte> crd;
    for (const Entry& entry : entries) {
      put_index(crd, operand.index_type,
                entry.coordinates[static_cast<size_t>(level.expr.dimension)]);
    }
    levels.push_back({{}, own(std::move(crd), count)});
  }
  std::vector<std::byte> pos;
  put_index(pos, operand.index_type, 0);
  put_index(pos, operand.index_type, count);
  levels[0].pos = own(std::move(pos), 2);
  StoredTensor stored;
  stored.type = operand.type;
  stored.pattern = std::make_shared<Pattern>(format, operand.sizes, operand.index_type, levels);
  for (const Entry& entry : entries) put_value(stored.values, operand.type, entry);
  return stored;
}

}  // namespace

ReferenceTensor draw(const Operand& operand, unsigned seed) {
  std::mt19937 random(seed);
  ReferenceTensor tensor;
  tensor.type = operand.type;
  tensor.sizes = operand.sizes;
  const int64_t count = tensor.count();
  const bool dense = !is_composite(operand) && format_of(operand).is_dense();
  std::bernoulli_distribution stored(operand.density), zero(operand.explicit_zeros ? 0.2 : 0);
  std::uniform_int_distribution<int> digit(-4, 4);
  std::uniform_int_distribution<int64_t> any(0, std::max<int64_t>(0, count - 1));
  const int64_t only = any(random);
  int64_t at = 0;
  expr::for_each_coordinate(operand.sizes, [&](const std::vector<int64_t>& coordinates) {
    bool here = stored(random);
    if (operand.spread == Spread::OneEntry) here = at == only;
    if (operand.spread == Spread::EmptyRows) here = here && !in_empty_row(coordinates);
    here = here || dense;
    int value = digit(random);
    if (value == 0) value = 3;
    if (zero(random) || !here) value = 0;
    tensor.stored.push_back(here);
    if (is_float(operand.type)) {
      tensor.floats.push_back(value * 0.5);
    } else {
      tensor.integers.push_back(operand.type == DType::Bool ? value != 0 : value);
    }
    ++at;
  });
  return tensor;
}

StoredTensor draw_stored(const Operand& operand, unsigned seed) {
  const Format format = format_of(operand);
  const ReferenceTensor tensor = draw(operand, seed);
  if (!is_list(format) || (format.is_unique() && format.is_ordered()))
    return expr::store(tensor, format, operand.index_type);
  std::mt19937 random(seed);
  std::vector<Entry> entries = entries_of(tensor);
  if (!format.is_unique()) repeat_some(entries, operand.type, random);
  std::shuffle(entries.begin(), entries.end(), random);
  auto key = [&](const Entry& entry) {
    std::vector<int64_t> coordinates;
    for (const Level& level : format.levels())
      coordinates.push_back(entry.coordinates[static_cast<size_t>(level.expr.dimension)]);
    return coordinates;
  };
  if (format.is_ordered()) {
    std::stable_sort(entries.begin(), entries.end(),
                     [&](const Entry& a, const Entry& b) { return key(a) < key(b); });
  }
  return store_list(entries, format, operand);
}

}  // namespace tulle::differential
