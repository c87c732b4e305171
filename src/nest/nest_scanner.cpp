// Iterates over the tokens of a nest.
#include "nest/nest_scanner.h"

#include <cstdint>

#include "support/check.h"

namespace tulle::nest {

std::string NestScanner::name(std::string_view what) {
  return std::string(expect(TokenKind::Identifier, what).text);
}

int NestScanner::integer(std::string_view what) {
  const Token token = peek();
  const int64_t value = expect_integer(what);
  if (value < 0 || value > INT32_MAX) fail(token, concat("expected ", what));
  return static_cast<int>(value);
}

bool NestScanner::ends_line(const Token& start) const {
  const Token& token = peek();
  if (token.kind == TokenKind::End || token.is("}") || token.is(";")) return true;
  const size_t length = token.offset - start.offset;
  return source().substr(start.offset, length).find('\n') != std::string_view::npos;
}

std::string NestScanner::rest_of_line(const Token& start) {
  const size_t begin = peek().offset;
  size_t end = begin;
  while (!ends_line(start)) {
    const Token token = next();
    end = token.offset + token.text.size();
  }
  if (end == begin) fail(peek(), "expected a format");
  return std::string(source().substr(begin, end - begin));
}

}  // namespace tulle::nest
