// A composite format: a tensor stored as several parts, each in a format of its own.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "format/format.h"
#include "format/selector.h"

namespace tulle {

// Into which the columns can be cut.
inline constexpr int64_t kMostColumnRanges = 1024;

class CompositeFormat {
 public:
  // What a selector takes, and how that is stored.
  struct Choice {
    Selector selector;
    Format format;
    bool operator==(const Choice&) const = default;
  };
  // Choices in their order; with `ranges` all of them for each of as many column ranges.
  struct Item {
    int64_t ranges = 0;
    std::vector<Choice> choices;
    bool operator==(const Item&) const = default;
  };
  // A choice at its place: within column range `range` of `ranges`.
  struct Part {
    Selector selector;
    Format format;
    int64_t range = 0, ranges = 1;
  };

  // `order`: dimension d of what the items describe is the tensor's dimension order[d].
  CompositeFormat(std::vector<int> order, std::vector<Item> items);

  // Whether the text is that of a composite format, rightly written or not.
  static bool is_composite(std::string_view text);
  // A name (hyb(2,3), ...) for a tensor of that rank, or "{ rows(nnz<=4): ell(4); rest: csr }".
  // UserError that points at the place where it is wrong.
  static CompositeFormat parse(std::string_view text, int rank);

  int rank() const { return static_cast<int>(order_.size()); }
  const std::vector<int>& order() const { return order_; }
  // As they were given; `parts` spells them out.
  const std::vector<Item>& items() const { return items_; }
  // In the order in which entries are given out and parts are stored; over the tensor's dimensions.
  const std::vector<Part>& parts() const { return parts_; }
  // How a tensor is stored whose parts are put together.
  Format merged() const { return Format::csf(rank(), {}, rank() == 2); }

  // The form that spells every part out; parses back to an equal format.
  std::string to_string() const;
  // The shortest text that parses back: the name where it has one, else to_string().
  std::string name() const;
  // "rows(nnz<=4) in column range 2 of 4", for people.
  static std::string describe(const Part& part);

  // The format of the tensor whose dimension d is this one's dimension order[d].
  CompositeFormat permuted(const std::vector<int>& order) const;

  bool operator==(const CompositeFormat& other) const {
    return order_ == other.order_ && items_ == other.items_;
  }

 private:
  std::string items_text() const;

  std::vector<int> order_;
  std::vector<Item> items_;
  std::vector<Part> parts_;
};

// The coordinates [begin, end) of a column range.
struct ColumnRange {
  int64_t begin = 0, end = 0;
};
ColumnRange column_range(int64_t columns, int64_t range, int64_t ranges);

}  // namespace tulle
