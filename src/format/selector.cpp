// The text of selectors.
#include "format/selector.h"

#include <array>
#include <charconv>

#include "support/check.h"

namespace tulle {

namespace {

// The shortest text that parses back.
std::string text_of(double number) {
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), number).ptr;
  return {text.data(), end};
}

}  // namespace

std::string to_string(const Selector& selector) {
  const int64_t first = selector.first, second = selector.second;
  switch (selector.kind) {
    case Selector::Kind::Rows:
      return concat("rows(nnz", selector.at_least ? ">=" : "<=", first, ")");
    case Selector::Kind::Columns:
      return concat("columns(", first, ",", second, ")");
    case Selector::Kind::Band:
      return concat("band(", first, ",", second, ")");
    case Selector::Kind::Blocks:
      return concat("blocks(", first, ",", second, ", fill>=", text_of(selector.threshold), ")");
    case Selector::Kind::Windows:
      return concat("windows(", first, ", reuse>=", text_of(selector.threshold), ")");
    case Selector::Kind::Rest:
      return "rest";
  }
  internal_error("unknown selector");
}

}  // namespace tulle
