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
  // Checks that the levels describe every dimension exactly once (whole, a quotient and then a
  // remainder of one divisor, or the difference to a whole one) and that each level can stand where
  // it stands (a singleton has a level above it that stores coordinates, say); raises UserError.
  Format(std::vector<std::string> dimension_names, std::vector<Level> levels);

  // A name (csr, bsr(16,16), ...) for a tensor of that rank, or the long form "(i,j) -> (i: dense,
  // j: compressed)".
  static Format parse(std::string_view text, int rank);
  static Format dense(int rank);
  // Sorted coordinates: compressed nonunique, then singletons; the given dimension order (identity
  // if empty).
  static Format coo(int rank, const std::vector<int>& order = {});
  // All levels compressed but a dense first one where `dense_first`; the given dimension order
  // (identity if empty).
  static Format csf(int rank, const std::vector<int>& order = {}, bool dense_first = false);

  int rank() const { return static_cast<int>(dimension_names_.size()); }
  const std::vector<std::string>& dimension_names() const { return dimension_names_; }
  const std::vector<Level>& levels() const { return levels_; }
  int level_count() const { return static_cast<int>(levels_.size()); }

  bool is_dense() const;    // every level is full
  bool has_blocks() const;  // some level is a quotient or remainder
  bool has_differences() const;
  bool has_gaps() const;  // values are stored for slots that hold no entry
  bool is_ordered() const;
  // No tuple of coordinates twice: below a level that repeats stands a unique singleton.
  bool is_unique() const;
  // Whether slots that share their coordinates have full levels below them, so that the values of
  // one tuple of coordinates lie apart.
  bool repeats_above_full() const;

  // The long form; parses back to an equal format.
  std::string to_string() const;
  // The shortest text that parses back: the name where it has one, else the long form.
  std::string name() const;

  // The format of the tensor whose dimension d is this one's dimension order[d].
  Format permuted(const std::vector<int>& order) const;

  // Equal storage; names of dimensions do not matter.
  bool operator==(const Format& other) const {
    return rank() == other.rank() && levels_ == other.levels_;
  }

 private:
  std::vector<std::string> dimension_names_;
  std::vector<Level> levels_;
};

}  // namespace tulle
