// The structure of a tensor without its values: immutable and shared.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "format/format.h"
#include "format/levels/level_layout.h"
#include "support/parallelism.h"

namespace tulle {

class Pattern {
 public:
  // Checks sizes and array lengths, but not the contents of the arrays; validate() does.
  Pattern(Format format, std::vector<int64_t> sizes, DType index_type,
          std::vector<LevelStorage> levels);

  const Format& format() const { return format_; }
  const std::vector<int64_t>& sizes() const { return sizes_; }
  DType index_type() const { return index_type_; }
  const std::vector<LevelStorage>& levels() const { return levels_; }
  // The slots of level `level`. The slots of the last level are the stored values.
  int64_t slots(int level) const { return slots_[static_cast<size_t>(level)]; }
  int64_t value_count() const { return slots_.empty() ? 1 : slots_.back(); }
  StoredLevel stored(int level) const;

 private:
  Format format_;
  std::vector<int64_t> sizes_;
  DType index_type_;
  std::vector<LevelStorage> levels_;
  std::vector<int64_t> slots_;
};

// Checks positions (start at 0, ascend, end at the length) and coordinates (in range, ordered and
// unique as the format requires) in O(slots), in parallel. Throws UserError that names `tensor`,
// the level, the array element, the value and the remedy. If there are several faults, it always
// reports the same one.
void validate(const Pattern& pattern, const std::string& tensor, Parallelism& parallelism);
void validate(const Pattern& pattern, const std::string& tensor);  // in this thread
// The same for structure that may be unsorted: returns whether coordinates are ordered and unique
// as the format requires. If a level is not, the levels below are not checked.
bool is_in_order(const Pattern& pattern, const std::string& tensor, Parallelism& parallelism);

}  // namespace tulle
