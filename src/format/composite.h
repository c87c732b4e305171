// A composite format: a tensor stored as several parts, each in a format of its own.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "format/format.h"
#include "format/selector.h"

namespace tulle {

// The largest number of column ranges.
inline constexpr int64_t kMostColumnRanges = 1024;

class CompositeFormat {
 public:
  // A selector and the format of the entries that it takes.
  struct Choice {
    Selector selector;
    Format format;
    bool operator==(const Choice&) const = default;
  };
  // Choices in order. If `ranges` > 0, all choices repeat for each of that many column ranges.
  struct Item {
    int64_t ranges = 0;
    std::vector<Choice> choices;
    bool operator==(const Item&) const = default;
  };
  // A choice in one column range, number `range` of `ranges`.
  struct Part {
    Selector selector;
    Format format;
    int64_t range = 0, ranges = 1;
  };

  // `order`: dimension d of the items is dimension order[d] of the tensor.
  CompositeFormat(std::vector<int> order, std::vector<Item> items);

  // Whether the text denotes a composite format, be it valid or not.
  static bool is_composite(std::string_view text);
  // Parses a name such as hyb(2,3) for a tensor of that rank, or "{ rows(nnz<=4): ell(4); rest: csr
  // }". Throws UserError that points at the mistake.
  static CompositeFormat parse(std::string_view text, int rank);

  int rank() const { return static_cast<int>(order_.size()); }
  const std::vector<int>& order() const { return order_; }
  // As given to the constructor; parts() expands the column ranges.
  const std::vector<Item>& items() const { return items_; }
  // In the order in which selectors take entries and parts are stored; over the dimensions of the
  // tensor.
  const std::vector<Part>& parts() const { return parts_; }
  // The format of the tensor after its parts are merged.
  Format merged() const { return Format::csf(rank(), {}, rank() == 2); }

  // The long form, which parses back to an equal format.
  std::string to_string() const;
  // The shortest text that parses back: the name if there is one, else to_string().
  std::string name() const;
  // "rows(nnz<=4) in column range 2 of 4", for messages.
  static std::string describe(const Part& part);

  // The format of the tensor whose dimension d is dimension order[d] of this one.
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
