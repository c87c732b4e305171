// The tokens of index notation, with significant line ends and source places of nodes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "expr/expr.h"
#include "expr/program.h"
#include "support/scanner.h"

namespace tulle::expr {

class NotationScanner : public Scanner {
 public:
  NotationScanner(std::string_view text, Writer writer);

  // The next token. Inside parentheses and brackets, line ends are skipped.
  const Token& here();
  void skip_newlines();
  // The number of the next token that is not a line end.
  size_t begin_here();

  // Separators between statements: line ends and ';'.
  bool at_separator() const;
  void skip_separators();

  // Call these around the content of parentheses or brackets.
  void open() { ++open_; }
  void close() { --open_; }
  // Whether a bracket that is open here is closed on this line, after all brackets opened in
  // between.
  bool is_bracket_closed() const;

  // The node with its source place, which begins at that token.
  Expr since(size_t begin, const Expr& expr, std::vector<Span> indices) const;
  Expr since(size_t begin, const Expr& expr) const;

  // Throws for a token after an operand that is neither an operator nor a valid end of the
  // expression.
  [[noreturn]] void fail_operator(std::string_view end) const;
  [[noreturn]] void not_yet(const Token& at, const std::string& message) const;

 private:
  int open_ = 0;  // parentheses and brackets
};

}  // namespace tulle::expr
