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
  StoredLevel stored(int level) const;

 private:
  Format format_;
  std::vector<int64_t> sizes_;
  DType index_type_;
  std::vector<LevelStorage> levels_;
  std::vector<int64_t> slots_;
};

// Checks positions (start at 0, ascend, end at the length), coordinates (in range, ordered and
// unique as the format says) in O(slots), in parallel. Raises UserError that names `tensor`, the
// level, the place, what was found and the remedy; of several faults the same one always.
void validate(const Pattern& pattern, const std::string& tensor, Parallelism& parallelism);
void validate(const Pattern& pattern, const std::string& tensor);  // in this thread
// The same for structure that may still have to be sorted: whether coordinates are ordered and
// unique as the format says. Where they are not, the levels below are not looked at.
bool is_in_order(const Pattern& pattern, const std::string& tensor, Parallelism& parallelism);

}  // namespace tulle
