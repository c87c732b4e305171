// The scanner of all of Tulle's languages. Its errors point at a token.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "support/source.h"

namespace tulle {

enum class TokenKind : uint8_t { Identifier, Integer, Float, Symbol, Newline, End };

struct Token {
  TokenKind kind;
  std::string_view text;
  size_t offset;  // byte offset in the source

  bool is(std::string_view spelling) const { return kind != TokenKind::End && text == spelling; }
};

// The tokens to recognise beyond identifiers and numbers.
struct ScannerOptions {
  bool newlines = false;                  // whether line ends are tokens
  std::vector<std::string_view> symbols;  // symbols of two or more characters, longest first
  std::string_view comment = "//";        // starts a comment that ends with the line
  bool dotted_names = false;              // whether identifiers may contain dots: A.pos1
  bool escaped_names = false;             // whether a dot may precede an identifier: .let
};

// Splits a text into tokens, which live as long as the scanner, and iterates over them. `language`
// is the name of the language in errors.
class Scanner {
 public:
  Scanner(std::string_view text, std::string_view language, const ScannerOptions& options = {});

  const Token& peek(size_t ahead = 0) const;
  Token next();
  bool at_end() const { return peek().kind == TokenKind::End; }

  // Consumes the next token if it has this spelling.
  bool accept(std::string_view spelling);
  // Consumes the next token, or throws an error with the expected token.
  Token expect(std::string_view spelling);
  Token expect(TokenKind kind, std::string_view description);
  int64_t expect_integer(std::string_view description);

  // Throws a UserError with the message, the line, and a caret under the token.
  [[noreturn]] void fail(const Token& at, const std::string& message) const;

  size_t index() const { return index_; }
  std::string_view source() const { return source_->text; }

  Span span_of(const Token& token) const { return {source_, token.offset, token.text.size()}; }
  // The span from the token that was next when index() was `first` to the last consumed token,
  // without line ends at both sides.
  Span span_since(size_t first) const;

 private:
  std::shared_ptr<const Source> source_;
  std::vector<Token> tokens_;
  size_t index_ = 0;
};

}  // namespace tulle
