// Conversion to and from storage, level by level.
#include "expr/storage.h"

#include <algorithm>
#include <cstring>

#include "expr/coordinates.h"
#include "expr/padding.h"
#include "expr/scalar.h"
#include "support/check.h"
#include "support/half.h"

namespace tulle::expr {

namespace {

// A half-precision number that converts like a built-in number.
template <DType type>
struct Half {
  uint16_t bits = 0;
  Half() = default;
  explicit Half(double value) : bits(narrow_to_half(type, value)) {}
  explicit operator double() const { return widen_half(type, bits); }
  explicit operator int64_t() const { return static_cast<int64_t>(widen_half(type, bits)); }
};

// Calls visit with a value of the C++ type of `type`.
template <typename Visit>
void with_element_type(DType type, const Visit& visit) {
  switch (type) {
    case DType::Bool:
      return visit(uint8_t{});
    case DType::Int32:
      return visit(int32_t{});
    case DType::Int64:
      return visit(int64_t{});
    case DType::Float32:
      return visit(float{});
    case DType::Float64:
      return visit(double{});
    case DType::Float16:
      return visit(Half<DType::Float16>{});
    case DType::BFloat16:
      return visit(Half<DType::BFloat16>{});
  }
}

ArrayView make_array(const std::vector<int64_t>& elements, DType type) {
  const auto length = static_cast<int64_t>(elements.size());
  if (type == DType::Bool) {
    const auto owner =
        std::make_shared<const std::vector<uint8_t>>(elements.begin(), elements.end());
    return {owner->data(), length, owner};
  }
  if (type == DType::Int64) {
    const auto owner = std::make_shared<const std::vector<int64_t>>(elements);
    return {owner->data(), length, owner};
  }
  const auto owner = std::make_shared<const std::vector<int32_t>>(elements.begin(), elements.end());
  return {owner->data(), length, owner};
}

// The coordinates of the tensor for given level coordinates; they may be outside the tensor.
std::vector<int64_t> tensor_coordinates(const Format& format, const std::vector<int64_t>& levels) {
  std::vector<int64_t> result(static_cast<size_t>(format.rank()));
  for (size_t l = 0; l < levels.size(); ++l) {
    const LevelExpr& expr = format.levels()[l].expr;
    const bool quotient = expr.part == LevelExpr::Part::Quotient;
    result[static_cast<size_t>(expr.dimension)] += quotient ? levels[l] * expr.divisor : levels[l];
  }
  for (const Level& level : format.levels()) {
    if (!level.expr.is_difference()) continue;
    result[static_cast<size_t>(level.expr.dimension)] +=
        result[static_cast<size_t>(level.expr.second)];
  }
  return result;
}

// A stored coordinate: its level coordinates, and its offset in the dense copy.
struct StoredEntry {
  std::vector<int64_t> levels;
  int64_t flat;
};

class Storer {
 public:
  Storer(const ReferenceTensor& tensor, const Format& format) : tensor_(tensor), format_(format) {
    const std::vector<bool> stored = with_padding(format, tensor.sizes, tensor.stored);
    for_each_coordinate(tensor.sizes, [&](const std::vector<int64_t>& coordinates) {
      const int64_t flat = row_major(tensor.sizes, coordinates);
      if (!stored[static_cast<size_t>(flat)]) return;
      entries_.push_back({level_coordinates(format, coordinates), flat});
    });
    std::sort(entries_.begin(), entries_.end(),
              [](const StoredEntry& a, const StoredEntry& b) { return a.levels < b.levels; });
  }

  StoredTensor run(DType index_type) {
    slots_ = {{0, entries_.size()}};
    std::vector<LevelStorage> storage;
    storage.reserve(format_.levels().size());
    for (size_t level = 0; level < format_.levels().size(); ++level) {
      const LevelContents contents = build_level(level);
      const DType crd_type = coordinate_type(format_.levels()[level].kind, index_type);
      storage.push_back({make_array(contents.pos, index_type), make_array(contents.crd, crd_type)});
    }
    return {std::make_shared<const Pattern>(format_, tensor_.sizes, index_type, std::move(storage)),
            tensor_.type, values()};
  }

 private:
  int64_t coordinate(size_t entry, size_t level) const { return entries_[entry].levels[level]; }

  LevelContents build_level(size_t level) {
    const std::vector<Level>& levels = format_.levels();
    // One slot per coordinate or, if branchless levels follow, per tuple of coordinates down to
    // them.
    size_t last = level;
    while (!levels[level].unique && last + 1 < levels.size() &&
           is_branchless(levels[last + 1].kind)) {
      ++last;
    }
    LevelEntries entries;
    entries.level = &levels[level];
    entries.extent = levels[level].expr.extent(tensor_.sizes);
    entries.coordinate = [&](size_t entry) { return coordinate(entry, level); };
    entries.are_one = [&](size_t a, size_t b) {
      return std::equal(entries_[a].levels.begin() + static_cast<int64_t>(level),
                        entries_[a].levels.begin() + static_cast<int64_t>(last) + 1,
                        entries_[b].levels.begin() + static_cast<int64_t>(level));
    };
    entries.slots = std::move(slots_);
    LevelContents contents = layout_of(levels[level].kind).build(entries);
    slots_ = std::move(entries.slots);
    return contents;
  }

  std::vector<std::byte> values() const {
    std::vector<std::byte> bytes(slots_.size() * static_cast<size_t>(size_of(tensor_.type)));
    with_element_type(tensor_.type, [&](auto zero) {
      using Element = decltype(zero);
      for (size_t slot = 0; slot < slots_.size(); ++slot) {
        if (slots_[slot].begin == slots_[slot].end) continue;
        const auto flat = static_cast<size_t>(entries_[slots_[slot].begin].flat);
        const auto value = is_float(tensor_.type) ? static_cast<Element>(tensor_.floats[flat])
                                                  : static_cast<Element>(tensor_.integers[flat]);
        std::memcpy(bytes.data() + slot * sizeof(Element), &value, sizeof(Element));
      }
    });
    return bytes;
  }

  const ReferenceTensor& tensor_;
  const Format& format_;
  std::vector<StoredEntry> entries_;
  std::vector<EntryRange> slots_;  // the slots of the last stored level
};

class Speller {
 public:
  explicit Speller(const StoredTensor& tensor) : tensor_(tensor), pattern_(*tensor.pattern) {
    result_.type = tensor.type;
    result_.sizes = pattern_.sizes();
    const auto count = static_cast<size_t>(result_.count());
    (is_float(tensor.type) ? result_.floats.resize(count) : result_.integers.resize(count));
    result_.stored.resize(count);
    levels_.resize(pattern_.format().levels().size());
  }

  ReferenceTensor run() {
    visit(0, 0);
    return std::move(result_);
  }

 private:
  void visit(int level, int64_t parent) {
    if (level == pattern_.format().level_count()) return add(parent);
    const Level& described = pattern_.format().levels()[static_cast<size_t>(level)];
    layout_of(described.kind)
        .visit(pattern_.stored(level), parent, [&](int64_t slot, int64_t coordinate) {
          levels_[static_cast<size_t>(level)] = coordinate;
          visit(level + 1, slot);
        });
  }

  void add(int64_t slot) {
    const std::vector<int64_t> coordinates = tensor_coordinates(pattern_.format(), levels_);
    for (size_t d = 0; d < coordinates.size(); ++d) {
      if (coordinates[d] < 0 || coordinates[d] >= result_.sizes[d]) return;
    }
    const auto flat = static_cast<size_t>(row_major(result_.sizes, coordinates));
    result_.stored[flat] = true;
    with_element_type(tensor_.type, [&](auto value) {
      std::memcpy(&value, tensor_.values.data() + static_cast<size_t>(slot) * sizeof(value),
                  sizeof(value));
      if (is_float(tensor_.type)) {
        result_.floats[flat] += static_cast<double>(value);
      } else {
        const Scalar sum = apply(BinaryOp::Add, make_integer(tensor_.type, result_.integers[flat]),
                                 make_integer(tensor_.type, static_cast<int64_t>(value)));
        result_.integers[flat] = sum.integer;
      }
    });
  }

  const StoredTensor& tensor_;
  const Pattern& pattern_;
  ReferenceTensor result_;
  std::vector<int64_t> levels_;  // the coordinate of each level
};

}  // namespace

StoredTensor store(const ReferenceTensor& tensor, const Format& format, DType index_type) {
  TULLE_CHECK(format.rank() == static_cast<int>(tensor.sizes.size()));
  return Storer(tensor, format).run(index_type);
}

ReferenceTensor spell_out(const StoredTensor& tensor) { return Speller(tensor).run(); }

}  // namespace tulle::expr
