// Selects the entries of a part of a composite format.
#pragma once

#include <cstdint>
#include <string>

namespace tulle {

// Selects among the entries that no earlier part took. A row is identified by all coordinates but
// the last, a column by the last one.
struct Selector {
  enum class Kind : uint8_t {
    Rows,     // rows(nnz<=4), rows(nnz>=5): rows with that many entries
    Columns,  // columns(0,64): columns from the first up to, but not including, the second
    Band,     // band(-1,1): the diagonals j-i from the first to the second
    Blocks,   // blocks(16,16, fill>=0.25): blocks with at least that fraction of entries
    Windows,  // windows(16, reuse>=1.5): windows of 16 rows with that many entries per nonempty
              // column
    Rest,     // all other entries
  };
  Kind kind = Kind::Rest;
  int64_t first = 0, second = 0;  // the numbers in the text, in order
  bool at_least = false;          // for Rows: whether `first` is a lower bound, not an upper bound
  double threshold = 0;           // for Blocks and Windows

  // The number of rows that are examined together.
  int64_t height() const {
    return kind == Kind::Blocks || kind == Kind::Windows ? first : int64_t{1};
  }
  bool operator==(const Selector&) const = default;
};

std::string to_string(const Selector& selector);

}  // namespace tulle
