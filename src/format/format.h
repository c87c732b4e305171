// A storage format: the dimensions of a tensor mapped to levels, outermost first.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "format/level.h"

namespace tulle {

class Format {
 public:
  // Checks that the levels store every dimension exactly once (whole, as a quotient and a remainder
  // of the same divisor, or as the difference to a dimension stored whole) and that each level may
  // follow the levels above it; a singleton, for example, needs a level above it that stores
  // coordinates. Throws UserError.
  Format(std::vector<std::string> dimension_names, std::vector<Level> levels);

  // Parses a name such as csr or bsr(16,16) for a tensor of that rank, or the long form "(i,j) ->
  // (i: dense, j: compressed)".
  static Format parse(std::string_view text, int rank);
  static Format dense(int rank);
  // Sorted coordinates: a compressed nonunique level, then singletons, in the given dimension order
  // (identity if empty).
  static Format coo(int rank, const std::vector<int>& order = {});
  // All levels are compressed, except a dense first one if `dense_first`; in the given dimension
  // order (identity if empty).
  static Format csf(int rank, const std::vector<int>& order = {}, bool dense_first = false);

  int rank() const { return static_cast<int>(dimension_names_.size()); }
  const std::vector<std::string>& dimension_names() const { return dimension_names_; }
  const std::vector<Level>& levels() const { return levels_; }
  int level_count() const { return static_cast<int>(levels_.size()); }

  bool is_dense() const;    // every level is full
  bool has_blocks() const;  // a level is a quotient or remainder
  bool has_differences() const;
  bool has_gaps() const;  // values are stored for slots without an entry
  bool is_ordered() const;
  // No tuple of coordinates occurs twice: below a nonunique level there is a unique singleton.
  bool is_unique() const;
  // Whether slots with equal coordinates have full levels below them, so that the values of one
  // tuple of coordinates are not contiguous.
  bool repeats_above_full() const;

  // The long form; parses back to an equal format.
  std::string to_string() const;
  // The shortest text that parses back: the name if there is one, else the long form.
  std::string name() const;

  // The format of the tensor whose dimension d is dimension order[d] of this one.
  Format permuted(const std::vector<int>& order) const;

  // Equal storage; the names of dimensions do not matter.
  bool operator==(const Format& other) const {
    return rank() == other.rank() && levels_ == other.levels_;
  }

 private:
  std::vector<std::string> dimension_names_;
  std::vector<Level> levels_;
};

}  // namespace tulle
