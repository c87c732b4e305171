// The scanner.
#include "support/scanner.h"

#include <algorithm>
#include <cctype>
#include <charconv>

#include "support/check.h"

namespace tulle {

namespace {

bool starts_identifier(char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_'; }
bool continues_identifier(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
}
bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

// The length of the identifier that the text begins with; 0 if there is none. A dot belongs to an
// identifier only before one of its characters.
size_t identifier_length(std::string_view text, const ScannerOptions& options) {
  size_t length = options.escaped_names && text.starts_with('.') ? 1 : 0;
  if (length == text.size() || !starts_identifier(text[length])) return 0;
  const auto continues = [&](size_t at) {
    return at < text.size() && continues_identifier(text[at]);
  };
  while (continues(length) ||
         (options.dotted_names && text.substr(length).starts_with('.') && continues(length + 1)))
    ++length;
  return length;
}

// The end of the number that starts at `begin`; sets `is_float` if it has a fraction or an
// exponent.
size_t scan_number(std::string_view source, size_t begin, bool& is_float) {
  size_t end = begin;
  auto digits = [&] {
    while (end < source.size() && is_digit(source[end])) ++end;
  };
  digits();
  is_float = false;
  if (end + 1 < source.size() && source[end] == '.' && is_digit(source[end + 1])) {
    is_float = true;
    ++end;
    digits();
  }
  if (end < source.size() && (source[end] == 'e' || source[end] == 'E')) {
    size_t exponent = end + 1;
    if (exponent < source.size() && (source[exponent] == '+' || source[exponent] == '-'))
      ++exponent;
    if (exponent < source.size() && is_digit(source[exponent])) {
      is_float = true;
      end = exponent;
      digits();
    }
  }
  return end;
}

}  // namespace

Scanner::Scanner(std::string_view text, std::string_view language, const ScannerOptions& options)
    : source_(std::make_shared<const Source>(Source{std::string(text), std::string(language)})) {
  const std::string_view source = source_->text;
  size_t at = 0;
  auto push = [&](TokenKind kind, size_t length) {
    tokens_.push_back({kind, source.substr(at, length), at});
    at += length;
  };
  while (at < source.size()) {
    const char c = source[at];
    const std::string_view rest = source.substr(at);
    if (c == '\n' && options.newlines) {
      push(TokenKind::Newline, 1);
    } else if (std::isspace(static_cast<unsigned char>(c))) {
      ++at;
    } else if (!options.comment.empty() && rest.starts_with(options.comment)) {
      at = std::min(source.find('\n', at), source.size());
    } else if (const size_t length = identifier_length(rest, options); length > 0) {
      push(TokenKind::Identifier, length);
    } else if (is_digit(c)) {
      bool is_float = false;
      const size_t end = scan_number(source, at, is_float);
      push(is_float ? TokenKind::Float : TokenKind::Integer, end - at);
    } else {
      const auto symbol = std::find_if(options.symbols.begin(), options.symbols.end(),
                                       [&](std::string_view s) { return rest.starts_with(s); });
      push(TokenKind::Symbol,
           symbol == options.symbols.end() ? character_length(rest) : symbol->size());
    }
  }
  tokens_.push_back({TokenKind::End, {}, source.size()});
}

const Token& Scanner::peek(size_t ahead) const {
  return tokens_[std::min(index_ + ahead, tokens_.size() - 1)];
}

Token Scanner::next() {
  const Token token = peek();
  if (index_ + 1 < tokens_.size()) ++index_;
  return token;
}

bool Scanner::accept(std::string_view spelling) {
  if (!peek().is(spelling)) return false;
  next();
  return true;
}

Token Scanner::expect(std::string_view spelling) {
  if (!peek().is(spelling)) fail(peek(), concat("expected '", spelling, "'"));
  return next();
}

Token Scanner::expect(TokenKind kind, std::string_view description) {
  if (peek().kind != kind) fail(peek(), concat("expected ", description));
  return next();
}

int64_t Scanner::expect_integer(std::string_view description) {
  const bool negative = accept("-");
  const Token token = expect(TokenKind::Integer, description);
  int64_t value = 0;
  const auto [end, error] =
      std::from_chars(token.text.data(), token.text.data() + token.text.size(), value);
  if (error != std::errc()) fail(token, concat("'", token.text, "' does not fit 64 bits"));
  return negative ? -value : value;
}

void Scanner::fail(const Token& at, const std::string& message) const {
  const std::string found = at.kind == TokenKind::End       ? std::string("the end")
                            : at.kind == TokenKind::Newline ? std::string("the end of the line")
                                                            : concat("'", at.text, "'");
  const bool names_it = message.find(found) != std::string::npos;
  fail_at(span_of(at), names_it ? message : concat(message, ", found ", found));
}

Span Scanner::span_since(size_t first) const {
  while (first + 1 < index_ && tokens_[first].kind == TokenKind::Newline) ++first;
  size_t last = index_;
  while (last > first + 1 && tokens_[last - 1].kind == TokenKind::Newline) --last;
  const size_t begin = tokens_[first].offset;
  if (last == first) return {source_, begin, 0};
  const Token& end = tokens_[last - 1];
  return {source_, begin, end.offset + end.text.size() - begin};
}

}  // namespace tulle
