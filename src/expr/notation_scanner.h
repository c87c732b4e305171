// The tokens of index notation: where line ends count, and where nodes stand in the text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "expr/expr.h"
#include "support/scanner.h"

namespace tulle::expr {

class NotationScanner : public Scanner {
 public:
  explicit NotationScanner(std::string_view text);

  // The next token; inside parentheses and brackets line ends mean nothing.
  const Token& here();
  void skip_newlines();
  // The number of the next token that is no line end.
  size_t begin_here();

  // Between statements: line ends and ';'.
  bool at_separator() const;
  void skip_separators();

  // Around what stands in parentheses or brackets.
  void open() { ++open_; }
  void close() { --open_; }
  // Whether a bracket that stands open here is closed on this line, after all that stand open
  // between.
  bool is_bracket_closed() const;

  // The node, which has been read from the token of that number on.
  Expr since(size_t begin, const Expr& expr, std::vector<Span> indices) const;
  Expr since(size_t begin, const Expr& expr) const;

  // What follows an operand is none of the operators, and nothing that may end the expression.
  [[noreturn]] void fail_operator(std::string_view end) const;
  [[noreturn]] void not_yet(const Token& at, const std::string& message) const;

 private:
  int open_ = 0;  // parentheses and brackets
};

}  // namespace tulle::expr
