// The text of composite formats.
#include <algorithm>
#include <charconv>
#include <numeric>
#include <optional>

#include "format/composite.h"
#include "format/composite_names.h"
#include "format/parse.h"
#include "support/check.h"

namespace tulle {

namespace {

using Names = std::vector<std::string>;

class CompositeParser {
 public:
  CompositeParser(std::string_view text, int rank)
      : scanner_(text, "format", format_symbols()), rank_(rank) {}

  CompositeFormat parse() {
    if (rank_ < 2) {
      fail_at(scanner_.span_of(scanner_.peek()),
              concat("composite formats are for matrices and batches of them, but the tensor has "
                     "rank ",
                     rank_));
    }
    if (scanner_.peek().kind == TokenKind::Identifier && !is_group()) return named();
    std::vector<int> order = dimension_order();
    const Token open = scanner_.peek();
    std::vector<CompositeFormat::Item> items;
    if (is_group()) {
      items.push_back(group());
    } else {
      items = list();
    }
    if (!takes_all_) {
      fail_at(
          scanner_.span_of(open),
          "the last part must be 'rest', so that every entry belongs to a part; add 'rest: csr'");
    }
    expect_end();
    return {std::move(order), std::move(items)};
  }

 private:
  void expect_end() {
    if (!scanner_.at_end()) scanner_.fail(scanner_.peek(), "expected the end of the format");
  }

  CompositeFormat named() {
    const Token first = scanner_.expect(TokenKind::Identifier, "'{' or the name of a format");
    std::string name(first.text);
    if (scanner_.accept("-")) {
      name += concat("-", scanner_.expect(TokenKind::Identifier, "the rest of the name").text);
    }
    if (!is_composite_name(name)) {
      scanner_.fail(first, concat("there is no composite format '", name, "'; the names are ",
                                  composite_names()));
    }
    std::vector<int64_t> arguments;
    if (scanner_.accept("(")) {
      do {
        arguments.push_back(scanner_.expect_integer("a number"));
      } while (scanner_.accept(","));
      scanner_.expect(")");
    }
    expect_end();
    return CompositeParser(composite_named(name, arguments), rank_).parse();
  }

  // "(j,i) -> (i,j)" before the parts: the parts are over the dimensions in the second order.
  std::vector<int> dimension_order() {
    std::vector<int> order(static_cast<size_t>(rank_));
    std::iota(order.begin(), order.end(), 0);
    if (!scanner_.peek().is("(")) return order;
    const Token open = scanner_.peek();
    const Names outer = dimension_names();
    scanner_.expect("->");
    const Names inner = dimension_names();
    if (static_cast<int>(outer.size()) != rank_ ||
        !std::is_permutation(outer.begin(), outer.end(), inner.begin(), inner.end())) {
      fail_at(scanner_.span_of(open),
              concat("both lists must name the ", rank_, " dimensions of the tensor"));
    }
    for (size_t d = 0; d < inner.size(); ++d) {
      order[d] = static_cast<int>(std::find(outer.begin(), outer.end(), inner[d]) - outer.begin());
    }
    return order;
  }

  Names dimension_names() {
    scanner_.expect("(");
    Names names;
    do {
      const Token name = scanner_.expect(TokenKind::Identifier, "the name of a dimension");
      if (std::find(names.begin(), names.end(), name.text) != names.end()) {
        scanner_.fail(name, concat("the dimension '", name.text, "' is named twice"));
      }
      names.emplace_back(name.text);
    } while (scanner_.accept(","));
    scanner_.expect(")");
    return names;
  }

  // Whether a group follows, as in columns(4){ ... }; columns(0,64): ... is a selector.
  bool is_group() const {
    return scanner_.peek().is("columns") && scanner_.peek(1).is("(") && scanner_.peek(3).is(")");
  }

  CompositeFormat::Item group() {
    scanner_.expect("columns");
    scanner_.expect("(");
    const Token number = scanner_.peek();
    const int64_t ranges = at_least_one("the number of column ranges");
    if (ranges > kMostColumnRanges) {
      scanner_.fail(number,
                    concat("columns can be cut into at most ", kMostColumnRanges, " ranges"));
    }
    scanner_.expect(")");
    scanner_.expect("{");
    CompositeFormat::Item item{ranges, {}};
    until_closed([&] {
      if (is_group()) scanner_.fail(scanner_.peek(), "column ranges cannot be nested");
      item.choices.push_back(choice());
    });
    return item;
  }

  std::vector<CompositeFormat::Item> list() {
    scanner_.expect("{");
    std::vector<CompositeFormat::Item> items;
    until_closed([&] {
      if (is_group()) {
        items.push_back(group());
      } else {
        items.push_back({0, {choice()}});
      }
    });
    return items;
  }

  template <typename Item>
  void until_closed(const Item& item) {
    do {
      if (scanner_.peek().is("}")) break;
      if (takes_all_)
        scanner_.fail(scanner_.peek(),
                      "'rest' takes all other entries, so it must be the last part");
      item();
    } while (scanner_.accept(";"));
    scanner_.expect("}");
  }

  CompositeFormat::Choice choice() {
    const Selector chosen = selector();
    scanner_.expect(":");
    if (scanner_.peek().is("{") || is_named_composite()) {
      scanner_.fail(scanner_.peek(), "a part cannot be composite; give it a plain format");
    }
    const Token start = scanner_.peek();
    Format format = parse_format(scanner_, rank_);
    if (format.is_dense()) {
      scanner_.fail(
          start,
          "a part stores some of the entries only, so it cannot be 'dense'; use a sparse format");
    }
    return {chosen, std::move(format)};
  }

  bool is_named_composite() const {
    const Token& first = scanner_.peek();
    const bool hyphenated = scanner_.peek(1).is("-");
    return is_composite_name(hyphenated ? concat(first.text, "-", scanner_.peek(2).text)
                                        : std::string(first.text));
  }

  Selector selector() {
    const Token name = scanner_.expect(TokenKind::Identifier, "a selector");
    Selector found;
    if (name.is("rest")) {
      takes_all_ = true;
      return found;
    }
    constexpr std::string_view known[] = {"rows", "columns", "band", "blocks", "windows"};
    if (std::find(std::begin(known), std::end(known), name.text) == std::end(known)) {
      scanner_.fail(name, concat("there is no selector '", name.text,
                                 "'; the selectors are rows(nnz<=4), columns(0,64), band(-1,1), "
                                 "blocks(16,16, fill>=0.25), windows(16, reuse>=1.5) and rest"));
    }
    scanner_.expect("(");
    if (name.is("rows")) {
      found.kind = Selector::Kind::Rows;
      scanner_.expect("nnz");
      found.at_least = scanner_.peek().is(">=");
      if (!scanner_.accept(">=") && !scanner_.accept("<="))
        scanner_.fail(scanner_.peek(), "expected '<=' or '>='");
      found.first = at_least_one("a number of entries");
    } else if (name.is("columns") || name.is("band")) {
      found.kind = name.is("band") ? Selector::Kind::Band : Selector::Kind::Columns;
      found.first = scanner_.expect_integer("a number");
      scanner_.expect(",");
      const Token second = scanner_.peek();
      found.second = scanner_.expect_integer("a number");
      if (found.second < found.first) {
        fail_at(scanner_.span_of(second), concat(name.text, "(", found.first, ",", found.second,
                                                 ") ends before it begins; write ", name.text, "(",
                                                 found.second, ",", found.first, ")"));
      }
    } else if (name.is("blocks")) {
      found.kind = Selector::Kind::Blocks;
      found.first = at_least_one("the rows of a block");
      scanner_.expect(",");
      found.second = at_least_one("the columns of a block");
      found.threshold = threshold("fill", 1);
    } else {
      found.kind = Selector::Kind::Windows;
      found.first = at_least_one("the rows of a window");
      found.threshold = threshold("reuse");
    }
    scanner_.expect(")");
    return found;
  }

  // Parses ", fill>=0.25". `most` is the largest valid value, if there is a limit.
  double threshold(std::string_view word, std::optional<int> most = std::nullopt) {
    if (!scanner_.peek().is(",") || !scanner_.peek(1).is(word) || !scanner_.peek(2).is(">=")) {
      scanner_.fail(scanner_.peek(), concat("expected a minimum ", word, "; write ",
                                            word == "fill" ? "blocks(16,16, fill>=0.25)"
                                                           : "windows(16, reuse>=1.5)"));
    }
    for (int token = 0; token < 3; ++token) scanner_.next();
    const Token number = scanner_.next();
    if (number.kind != TokenKind::Integer && number.kind != TokenKind::Float) {
      scanner_.fail(number, "expected a number");
    }
    double value = 0;
    std::from_chars(number.text.data(), number.text.data() + number.text.size(), value);
    if (most && value > *most) {
      scanner_.fail(number, concat(word, " must be between 0 and ", *most, "; write ", word,
                                   ">=0.5 for blocks that are at least half full"));
    }
    return value;
  }

  int64_t at_least_one(std::string_view what) {
    const Token number = scanner_.peek();
    const int64_t value = scanner_.expect_integer(what);
    if (value < 1) scanner_.fail(number, concat(what, " must be at least 1"));
    return value;
  }

  Scanner scanner_;
  int rank_;
  bool takes_all_ = false;  // whether the last part read was `rest`
};

}  // namespace

CompositeFormat CompositeFormat::parse(std::string_view text, int rank) {
  check_rank(rank);
  return CompositeParser(text, rank).parse();
}

bool CompositeFormat::is_composite(std::string_view text) {
  if (text.find('{') != std::string_view::npos) return true;
  const size_t end = std::min(text.find('('), text.size());
  std::string_view name = text.substr(0, end);
  while (!name.empty() && name.back() == ' ') name.remove_suffix(1);
  while (!name.empty() && name.front() == ' ') name.remove_prefix(1);
  return is_composite_name(name);
}

}  // namespace tulle
