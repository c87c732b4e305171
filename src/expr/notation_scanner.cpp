// Iterates over the tokens of index notation.
#include "expr/notation_scanner.h"

#include "support/check.h"

namespace tulle::expr {

NotationScanner::NotationScanner(std::string_view text, Writer writer)
    : Scanner(text, "index notation",
              {.newlines = true,
               .symbols = {"+=", "==", "**", "//", "<=", ">=", "!="},
               .comment = "#",
               .dotted_names = writer == Writer::Compiler}) {}

const Token& NotationScanner::here() {
  if (open_ > 0) skip_newlines();
  return peek();
}

void NotationScanner::skip_newlines() {
  while (peek().kind == TokenKind::Newline) next();
}

size_t NotationScanner::begin_here() {
  skip_newlines();
  return index();
}

bool NotationScanner::at_separator() const {
  return peek().kind == TokenKind::Newline || peek().is(";");
}

void NotationScanner::skip_separators() {
  while (at_separator()) next();
}

bool NotationScanner::is_bracket_closed() const {
  int open = 1;
  for (size_t ahead = 0; open > 0; ++ahead) {
    const Token& token = peek(ahead);
    if (token.kind == TokenKind::End || token.kind == TokenKind::Newline || token.is(";"))
      return false;
    if (token.is("[")) ++open;
    if (token.is("]")) --open;
  }
  return true;
}

Expr NotationScanner::since(size_t begin, const Expr& expr, std::vector<Span> indices) const {
  return placed(expr, {.all = span_since(begin), .indices = std::move(indices)});
}

Expr NotationScanner::since(size_t begin, const Expr& expr) const {
  return since(begin, expr, expr->place.indices);
}

void NotationScanner::fail_operator(std::string_view end) const {
  const Token& token = peek();
  if (token.is("[")) {
    fail(token, "write all subscripts in one pair of brackets after a name, as in A[i,j]");
  }
  for (const std::string_view comparison : {"<", ">", "<=", ">=", "==", "!="}) {
    if (!token.is(comparison)) continue;
    not_yet(token,
            "comparisons are not supported yet; where(c, x, y) is x where c is not 0, and "
            "sign(relu(a - "
            "b)) is 1 where a > b");
  }
  const bool closes = token.is(")") || token.is("]") || token.is(",");
  if (token.kind == TokenKind::Symbol && !closes) {
    fail(token, concat("there is no operator '", token.text, "'; the operators are + - * /"));
  }
  fail(token, concat("expected an operator or ", end));
}

void NotationScanner::not_yet(const Token& at, const std::string& message) const {
  unsupported_at(span_of(at), message);
}

}  // namespace tulle::expr
