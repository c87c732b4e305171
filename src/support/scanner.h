// The tokens that all of Tulle's small languages share, with errors that point at the place.
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
  size_t offset;  // into the source

  bool is(std::string_view spelling) const { return kind != TokenKind::End && text == spelling; }
};

// What a scanner should recognise beyond identifiers and numbers.
struct ScannerOptions {
  bool newlines = false;                  // hand line ends on as tokens
  std::vector<std::string_view> symbols;  // symbols of two and more characters, longest first
  std::string_view comment = "//";        // a comment runs from here to the end of the line
};

// Splits a text into tokens, which live as long as the scanner, and walks over them. `language`
// names it in errors.
class Scanner {
 public:
  Scanner(std::string_view text, std::string_view language, const ScannerOptions& options = {});

  const Token& peek(size_t ahead = 0) const;
  Token next();
  bool at_end() const { return peek().kind == TokenKind::End; }

  // Takes the token if it is spelled so.
  bool accept(std::string_view spelling);
  // Takes the token or fails, saying what was expected.
  Token expect(std::string_view spelling);
  Token expect(TokenKind kind, std::string_view description);
  int64_t expect_integer(std::string_view description);

  // Raises a UserError with the line, a caret under the token and the message.
  [[noreturn]] void fail(const Token& at, const std::string& message) const;

  size_t index() const { return index_; }
  std::string_view source() const { return source_->text; }

  Span span_of(const Token& token) const { return {source_, token.offset, token.text.size()}; }
  // From the token that was next when index() was `first` to the last one taken since; line ends
  // at both sides do not count.
  Span span_since(size_t first) const;

 private:
  std::shared_ptr<const Source> source_;
  std::vector<Token> tokens_;
  size_t index_ = 0;
};

}  // namespace tulle
