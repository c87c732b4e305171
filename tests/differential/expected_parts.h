// Computes the part of each entry in a composite format by counting. This follows the definition of
// selectors and shares no code with select_parts.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "format/composite.h"

namespace tulle::differential {

class ExpectedParts {
 public:
  // The coordinates of all entries, in the selectors' order of dimensions.
  ExpectedParts(const CompositeFormat& format, const std::vector<int64_t>& sizes,
                const std::vector<std::vector<int64_t>>& coordinates)
      : coordinates_(coordinates), part_of_(coordinates[0].size(), -1) {
    const auto& parts = format.parts();
    for (size_t p = 0; p < parts.size(); ++p) {
      const ColumnRange range = column_range(sizes.back(), parts[p].range, parts[p].ranges);
      std::vector<size_t> there, taken;
      for (size_t e = 0; e < part_of_.size(); ++e) {
        if (part_of_[e] < 0 && column(e) >= range.begin && column(e) < range.end)
          there.push_back(e);
      }
      for (const size_t e : there) {
        if (takes(parts[p].selector, e, there)) taken.push_back(e);
      }
      for (const size_t e : taken) part_of_[e] = static_cast<int>(p);
    }
  }

  // The number of an entry's part. -1 if no part takes it.
  int operator[](size_t entry) const { return part_of_[entry]; }

 private:
  int64_t column(size_t e) const { return coordinates_.back()[e]; }
  int64_t row(size_t e) const { return coordinates_[coordinates_.size() - 2][e]; }
  bool in_one_matrix(size_t a, size_t b) const {
    return std::all_of(coordinates_.begin(), coordinates_.end() - 2, [&](const auto& of_dimension) {
      return of_dimension[a] == of_dimension[b];
    });
  }

  bool takes(const Selector& selector, size_t e, const std::vector<size_t>& there) const {
    // The entries in the same window of rows.
    std::vector<size_t> window;
    for (const size_t other : there) {
      if (in_one_matrix(e, other) && row(e) / selector.height() == row(other) / selector.height())
        window.push_back(other);
    }
    const auto count = static_cast<int64_t>(window.size());
    switch (selector.kind) {
      case Selector::Kind::Rows:
        return selector.at_least ? count >= selector.first : count <= selector.first;
      case Selector::Kind::Columns:
        return column(e) >= selector.first && column(e) < selector.second;
      case Selector::Kind::Band:
        return column(e) - row(e) >= selector.first && column(e) - row(e) <= selector.second;
      case Selector::Kind::Blocks: {
        const auto inside = std::count_if(window.begin(), window.end(), [&](size_t other) {
          return column(other) / selector.second == column(e) / selector.second;
        });
        return static_cast<double>(inside) >=
               selector.threshold * static_cast<double>(selector.first * selector.second);
      }
      case Selector::Kind::Windows: {
        std::vector<int64_t> columns;
        for (const size_t other : window) {
          if (std::find(columns.begin(), columns.end(), column(other)) == columns.end())
            columns.push_back(column(other));
        }
        return static_cast<double>(count) >=
               selector.threshold * static_cast<double>(columns.size());
      }
      case Selector::Kind::Rest:
        return true;
    }
    return false;
  }

  const std::vector<std::vector<int64_t>>& coordinates_;
  std::vector<int> part_of_;
};

}  // namespace tulle::differential
