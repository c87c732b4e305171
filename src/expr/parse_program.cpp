// The parser of index notation: statements.
#include <set>

#include "expr/parse_expr.h"
#include "expr/program.h"
#include "support/check.h"

namespace tulle::expr {

namespace {

constexpr std::string_view kExample = "C[i,k] = A[i,j] * B[j,k]";

class NotationParser {
 public:
  NotationParser(std::string_view text, Writer writer) : scanner_(text, writer), writer_(writer) {}

  ParsedProgram parse() {
    ParsedProgram program;
    scanner_.skip_separators();
    while (!scanner_.at_end()) {
      program.statements.push_back(statement());
      if (!scanner_.at_end() && !scanner_.at_separator())
        scanner_.fail_operator("the end of the statement");
      scanner_.skip_separators();
    }
    if (program.statements.empty()) {
      scanner_.fail(scanner_.peek(), concat("expected a statement, as in ", kExample));
    }
    return program;
  }

 private:
  Statement statement() {
    Statement statement;
    const size_t begin = scanner_.index();
    check_continuation(scanner_.peek());
    const Token name = scanner_.expect(TokenKind::Identifier, "the name of a result");
    statement.tensor = name.text;
    ExprParser exprs(scanner_, names_, writer_);
    if (scanner_.peek().is("[")) statement.indices = exprs.subscripts(statement.place.indices);
    check_distinct(statement);
    statement.place.all = scanner_.span_since(begin);
    if (scanner_.peek().is("+=")) {
      scanner_.not_yet(scanner_.peek(),
                       "'+=' is not supported yet; write a new result, D = C + ..., instead");
    }
    if (!scanner_.peek().is("=")) {
      scanner_.fail(scanner_.peek(), "expected '=': a statement is a result and its value, as in " +
                                         std::string(kExample));
    }
    scanner_.next();
    statement.value = exprs.sum();
    if (names_.assigned.contains(statement.tensor)) {
      scanner_.fail(name,
                    concat("'", name.text, "' is assigned twice; give each result its own name"));
    }
    if (names_.read.contains(statement.tensor)) {
      scanner_.fail(name,
                    concat("'", name.text, "' is read as an operand, so it cannot be assigned; ",
                           "give the result another name"));
    }
    names_.assigned.insert(statement.tensor);
    return statement;
  }

  // Throws for a line that starts with an operator: the author meant to continue the previous line.
  void check_continuation(const Token& token) const {
    const bool is_operator = token.is("+") || token.is("-") || token.is("*") || token.is("/");
    if (!is_operator || names_.assigned.empty()) return;
    scanner_.fail(token, concat("an expression ends with its line, except after an operator and ",
                                "inside parentheses; move the '", token.text,
                                "' to the end of the previous line"));
  }

  static void check_distinct(const Statement& statement) {
    std::set<std::string> seen;
    for (size_t at = 0; at < statement.indices.size(); ++at) {
      if (seen.insert(statement.indices[at]).second) continue;
      fail_at(statement.place.index(at), concat("the index '", statement.indices[at],
                                                "' is twice on the left; use two indices"));
    }
  }

  NotationScanner scanner_;
  UsedNames names_;
  const Writer writer_;
};

}  // namespace

ParsedProgram parse_program(std::string_view text, Writer writer) {
  return NotationParser(text, writer).parse();
}

}  // namespace tulle::expr
