// The text of formats: a name, or dimensions mapped to levels.
#include "format/parse.h"

#include <algorithm>

#include "format/composite.h"
#include "format/composite_names.h"
#include "format/format.h"
#include "format/names.h"
#include "support/check.h"
#include "support/similar_name.h"

namespace tulle {

namespace {

class FormatParser {
 public:
  FormatParser(Scanner& scanner, int rank) : scanner_(scanner), rank_(rank) {}

  Format parse() { return scanner_.peek().is("(") ? long_form() : named(); }

 private:
  Format named() {
    const Token first = scanner_.expect(TokenKind::Identifier, "the name of a format or '('");
    std::string name(first.text);
    if (scanner_.accept("-")) {
      name += concat("-", scanner_.expect(TokenKind::Identifier, "the rest of the name").text);
    }
    std::vector<int64_t> arguments;
    if (scanner_.accept("(")) {
      if (scanner_.peek().kind == TokenKind::Identifier) fail_dimension_order(first);
      do {
        arguments.push_back(scanner_.expect_integer("a number"));
      } while (scanner_.accept(","));
      scanner_.expect(")");
    }
    std::optional<Format> format = format_named(name, arguments, rank_);
    if (!format) {
      scanner_.fail(first,
                    concat("there is no format '", name, "'",
                           did_you_mean(name, concat(format_names(), ", ", composite_names())),
                           "; the names are ", format_names(), ", the composite formats are ",
                           composite_names(),
                           ", and any other format is written (i,j) -> (i: dense, j: compressed)"));
    }
    return *format;
  }

  [[noreturn]] void fail_dimension_order(const Token& name) const {
    scanner_.fail(scanner_.peek(),
                  concat("'", name.text, "' takes numbers, not dimensions; a dimension order is ",
                         "written (i,j) -> (j: dense, i: compressed)"));
  }

  Format long_form() {
    const Token open = scanner_.expect("(");
    std::vector<std::string> names;
    if (!scanner_.peek().is(")")) {
      do {
        names.emplace_back(scanner_.expect(TokenKind::Identifier, "the name of a dimension").text);
      } while (scanner_.accept(","));
    }
    scanner_.expect(")");
    if (static_cast<int>(names.size()) != rank_) {
      fail_at(scanner_.span_of(open),
              concat("the format has ", names.size(), " dimensions, but the tensor has ", rank_,
                     "; name each dimension before the '->'"));
    }
    scanner_.expect("->");
    const Token levels_open = scanner_.expect("(");
    std::vector<Level> levels;
    if (!scanner_.peek().is(")")) {
      do {
        levels.push_back(level(names));
      } while (scanner_.accept(","));
    }
    scanner_.expect(")");
    try {
      return {std::move(names), std::move(levels)};
    } catch (const UserError& error) {
      fail_at(scanner_.span_of(levels_open), error.what());
    }
  }

  Level level(const std::vector<std::string>& names) {
    Level level;
    level.expr = level_expr(names);
    scanner_.expect(":");
    level.kind = level_kind();
    if (has_width(level.kind)) level.width = argument("the number of slots");
    while (scanner_.peek().kind == TokenKind::Identifier) property(level);
    return level;
  }

  // (4)
  int64_t argument(std::string_view what) {
    scanner_.expect("(");
    const Token number = scanner_.peek();
    const int64_t value = scanner_.expect_integer(what);
    if (value < 1) scanner_.fail(number, concat(what, " must be at least 1"));
    scanner_.expect(")");
    return value;
  }

  int dimension(const std::vector<std::string>& names) {
    const Token name = scanner_.expect(TokenKind::Identifier, "a dimension");
    const auto at = std::find(names.begin(), names.end(), name.text);
    if (at == names.end()) {
      scanner_.fail(name, concat("'", name.text, "' is not a dimension of this format"));
    }
    return static_cast<int>(at - names.begin());
  }

  LevelExpr level_expr(const std::vector<std::string>& names) {
    LevelExpr expr{.dimension = dimension(names)};
    if (scanner_.accept("-")) {
      expr.part = LevelExpr::Part::Difference;
      expr.second = dimension(names);
      return expr;
    }
    if (scanner_.accept("/")) {
      expr.part = LevelExpr::Part::Quotient;
    } else if (scanner_.accept("%")) {
      expr.part = LevelExpr::Part::Remainder;
    } else {
      return expr;
    }
    const Token divisor = scanner_.peek();
    expr.divisor = scanner_.expect_integer("a block size");
    if (expr.divisor < 1) scanner_.fail(divisor, "a block size must be at least 1");
    return expr;
  }

  LevelKind level_kind() {
    const Token kind = scanner_.expect(TokenKind::Identifier, "a level kind");
    for (const LevelKind candidate : kLevelKinds) {
      if (kind.text == text_of(candidate)) return candidate;
    }
    const std::string known = text_of_kinds([](LevelKind) { return true; }, "and");
    scanner_.fail(kind, concat("there is no level kind '", kind.text, "'; the kinds are ", known));
  }

  void property(Level& level) {
    const Token property = scanner_.next();
    if (property.is("nonunique") || property.is("unique")) {
      level.unique = property.is("unique");
    } else if (property.is("unordered") || property.is("ordered")) {
      level.ordered = property.is("ordered");
    } else if (property.is("multiple")) {
      level.multiple = argument("what lengths are rounded up to");
    } else {
      scanner_.fail(
          property,
          concat("there is no level property '", property.text,
                 "'; the properties are unique, nonunique, ordered, unordered, multiple(g)"));
    }
  }

  Scanner& scanner_;
  int rank_;
};

}  // namespace

ScannerOptions format_symbols() { return {.symbols = {"->", "<=", ">="}}; }

void check_rank(int rank) {
  if (rank >= 0 && rank <= kLargestRank) return;
  user_error("A tensor cannot have rank ", rank, "; ranks are 0 to ", kLargestRank, ".");
}

Format parse_format(Scanner& scanner, int rank) { return FormatParser(scanner, rank).parse(); }

Format Format::parse(std::string_view text, int rank) {
  check_rank(rank);
  Scanner scanner(text, "format", format_symbols());
  if (CompositeFormat::is_composite(text)) {
    scanner.fail(scanner.peek(),
                 "a composite format is for operands only; store a result in the format of one of "
                 "its parts, or in csr");
  }
  Format format = parse_format(scanner, rank);
  if (!scanner.at_end()) scanner.fail(scanner.peek(), "expected the end of the format");
  return format;
}

}  // namespace tulle
