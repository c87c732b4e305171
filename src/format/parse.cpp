// The text of formats: a name, or dimensions mapped to levels.
#include <algorithm>

#include "format/format.h"
#include "format/names.h"
#include "support/check.h"
#include "support/scanner.h"

namespace tulle {

namespace {

class FormatParser {
 public:
  FormatParser(std::string_view text, int rank)
      : scanner_(text, "format", {.symbols = {"->"}}), rank_(rank) {}

  Format parse() {
    const Token start = scanner_.peek();
    Format format = start.is("(") ? long_form() : named();
    if (!scanner_.at_end()) scanner_.fail(scanner_.peek(), "expected the end of the format");
    return format;
  }

 private:
  Format named() {
    const Token name = scanner_.expect(TokenKind::Identifier, "the name of a format or '('");
    std::vector<int64_t> arguments;
    if (scanner_.accept("(")) {
      if (scanner_.peek().kind == TokenKind::Identifier) fail_dimension_order(name);
      do {
        arguments.push_back(scanner_.expect_integer("a block size"));
      } while (scanner_.accept(","));
      scanner_.expect(")");
    }
    std::optional<Format> format = format_named(name.text, arguments, rank_);
    if (!format) {
      scanner_.fail(name,
                    concat("there is no format '", name.text, "'; the names are ", format_names(),
                           ", and any other is written (i,j) -> (i: dense, j: compressed)"));
    }
    return *format;
  }

  [[noreturn]] void fail_dimension_order(const Token& name) const {
    scanner_.fail(
        scanner_.peek(),
        concat("'", name.text, "' takes block sizes, not dimensions; a dimension order is ",
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
                     "; name each of them before the '->'"));
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
    while (scanner_.peek().kind == TokenKind::Identifier) property(level);
    return level;
  }

  LevelExpr level_expr(const std::vector<std::string>& names) {
    const Token name = scanner_.expect(TokenKind::Identifier, "a dimension");
    const auto at = std::find(names.begin(), names.end(), name.text);
    if (at == names.end()) {
      scanner_.fail(name, concat("'", name.text, "' is not a dimension of this format"));
    }
    LevelExpr expr{.dimension = static_cast<int>(at - names.begin())};
    if (scanner_.accept("/")) {
      expr.part = LevelExpr::Part::Quotient;
    } else if (scanner_.accept("%")) {
      expr.part = LevelExpr::Part::Remainder;
    } else {
      return expr;
    }
    const Token divisor = scanner_.peek();
    expr.divisor = scanner_.expect_integer("a block size");
    if (expr.divisor < 1) scanner_.fail(divisor, "a block size is at least 1");
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
    } else {
      scanner_.fail(property,
                    concat("there is no level property '", property.text,
                           "'; the properties are unique, nonunique, ordered, unordered"));
    }
  }

  Scanner scanner_;
  int rank_;
};

}  // namespace

Format Format::parse(std::string_view text, int rank) {
  TULLE_CHECK(rank >= 0, "rank ", rank);
  return FormatParser(text, rank).parse();
}

}  // namespace tulle
