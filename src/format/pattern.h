// The structure of a tensor without its values: immutable and shared.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "format/format.h"
#include "tulle/dtype.h"

namespace tulle {

// A read-only array that someone else may own.
struct ArrayView {
  const void* data = nullptr;
  int64_t length = 0;
  std::shared_ptr<const void> owner;  // keeps `data` alive; null where the caller does

  int64_t at(int64_t index, DType type) const;  // an Int32 or Int64 element
};

struct LevelStorage {
  ArrayView pos;  // where the level's kind stores positions: one more than the parent has slots
  ArrayView crd;  // where it stores coordinates: one a slot
};

class Pattern {
 public:
  // Takes the arrays as they are: sizes and lengths are checked, contents are not (see validate).
  Pattern(Format format, std::vector<int64_t> sizes, DType index_type,
          std::vector<LevelStorage> levels);

  const Format& format() const { return format_; }
  const std::vector<int64_t>& sizes() const { return sizes_; }
  DType index_type() const { return index_type_; }
  const std::vector<LevelStorage>& levels() const { return levels_; }
  // How many slots level `level` has; of the last one: how many values are stored.
  int64_t slots(int level) const { return slots_[static_cast<size_t>(level)]; }
  int64_t value_count() const { return slots_.empty() ? 1 : slots_.back(); }

 private:
  Format format_;
  std::vector<int64_t> sizes_;
  DType index_type_;
  std::vector<LevelStorage> levels_;
  std::vector<int64_t> slots_;
};

// Checks positions (start at 0, ascend, end at the length), coordinates (in range, ordered and
// unique as the format says) in O(slots). Raises UserError that names `tensor`, the level, the
// place, what was found and the remedy.
void validate(const Pattern& pattern, const std::string& tensor);

}  // namespace tulle
