// Construction and printing of composite formats.
#include "format/composite.h"

#include <algorithm>

#include "format/composite_names.h"
#include "format/names.h"
#include "support/check.h"
#include "support/joined.h"

namespace tulle {

namespace {

// The inverse permutation: order[result[d]] = d.
std::vector<int> inverse(const std::vector<int>& order) {
  std::vector<int> result(order.size());
  for (size_t d = 0; d < order.size(); ++d) {
    result[static_cast<size_t>(order[d])] = static_cast<int>(d);
  }
  return result;
}

}  // namespace

CompositeFormat::CompositeFormat(std::vector<int> order, std::vector<Item> items)
    : order_(std::move(order)), items_(std::move(items)) {
  const std::vector<int> back = inverse(order_);
  for (const Item& item : items_) {
    const int64_t ranges = std::max<int64_t>(1, item.ranges);
    for (int64_t range = 0; range < ranges; ++range) {
      for (const Choice& choice : item.choices) {
        parts_.push_back({choice.selector, choice.format.permuted(back), range, ranges});
      }
    }
  }
}

CompositeFormat CompositeFormat::permuted(const std::vector<int>& order) const {
  const std::vector<int> back = inverse(order);
  std::vector<int> moved;
  for (const int dimension : order_) moved.push_back(back[static_cast<size_t>(dimension)]);
  return {std::move(moved), items_};
}

std::string CompositeFormat::items_text() const {
  auto choices = [](const Item& item) {
    std::string text;
    for (const Choice& choice : item.choices) {
      text += concat(text.empty() ? "" : "; ", tulle::to_string(choice.selector), ": ",
                     choice.format.name());
    }
    return text;
  };
  std::string text;
  for (const Item& item : items_) {
    const std::string inner = choices(item);
    text += concat(text.empty() ? "" : "; ",
                   item.ranges == 0 ? inner : concat("columns(", item.ranges, "){ ", inner, " }"));
  }
  const bool is_one_group = items_.size() == 1 && items_[0].ranges > 0;
  return is_one_group ? text : concat("{ ", text, " }");
}

std::string CompositeFormat::to_string() const {
  if (std::is_sorted(order_.begin(), order_.end())) return items_text();
  const std::vector<std::string> names = default_dimension_names(rank());
  std::vector<std::string> own;
  for (const int dimension : order_) own.push_back(names[static_cast<size_t>(dimension)]);
  return concat("(", joined(names, ","), ") -> (", joined(own, ","), ")", items_text());
}

std::string CompositeFormat::name() const {
  if (std::is_sorted(order_.begin(), order_.end())) {
    if (const auto name = composite_name_of(items_text(), rank())) return *name;
  }
  return to_string();
}

std::string CompositeFormat::describe(const Part& part) {
  const std::string text = tulle::to_string(part.selector);
  if (part.ranges == 1) return text;
  return concat(text, " in column range ", part.range + 1, " of ", part.ranges);
}

ColumnRange column_range(int64_t columns, int64_t range, int64_t ranges) {
  const int64_t width = (columns + ranges - 1) / ranges;
  return {std::min(columns, range * width), std::min(columns, (range + 1) * width)};
}

}  // namespace tulle
