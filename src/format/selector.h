// Which entries of a tensor a part of a composite format takes.
#pragma once

#include <cstdint>
#include <string>

namespace tulle {

// Of the entries that the parts before it left. Rows are what all dimensions but the last have in
// common, columns the last dimension.
struct Selector {
  enum class Kind : uint8_t {
    Rows,     // rows(nnz<=4), rows(nnz>=5): of as many entries
    Columns,  // columns(0,64): from the first up to the second, which does not count
    Band,     // band(-1,1): the diagonals j-i from the first to the second
    Blocks,   // blocks(16,16, fill>=0.25): blocks of which that share is there
    Windows,  // windows(16, reuse>=1.5): of as many rows, in which a column has so many entries
    Rest,     // all
  };
  Kind kind = Kind::Rest;
  int64_t first = 0, second = 0;  // the numbers of its text in their order
  bool at_least = false;          // of Rows: whether `first` is the least, not the most
  double threshold = 0;           // of Blocks and Windows

  // How many rows have to be looked at together.
  int64_t height() const {
    return kind == Kind::Blocks || kind == Kind::Windows ? first : int64_t{1};
  }
  bool operator==(const Selector&) const = default;
};

std::string to_string(const Selector& selector);

}  // namespace tulle
