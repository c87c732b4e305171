// The parser of index notation.
#include <algorithm>
#include <charconv>
#include <set>

#include "expr/functions.h"
#include "expr/program.h"
#include "support/check.h"
#include "support/scanner.h"

namespace tulle::expr {

namespace {

// Trees are walked recursively: this bounds their depth.
constexpr int kMaxOperations = 250;  // of a statement; parentheses count

constexpr std::string_view kExample = "C[i,k] = A[i,j] * B[j,k]";

class ProgramParser {
 public:
  explicit ProgramParser(std::string_view text)
      : scanner_(text, "index notation",
                 {.newlines = true,
                  .symbols = {"+=", "==", "**", "//", "<=", ">=", "!="},
                  .comment = "#"}) {}

  Program parse() {
    Program program;
    skip_separators();
    while (!scanner_.at_end()) {
      program.statements.push_back(statement());
      if (!scanner_.at_end() && !at_separator()) fail_operator("the end of the statement");
      skip_separators();
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
    next_id_ = 0;
    operations_ = 0;
    if (scanner_.peek().is("[")) statement.indices = subscripts(statement.place.indices);
    check_distinct(statement);
    statement.place.all = scanner_.span_since(begin);
    if (scanner_.peek().is("+=")) {
      not_yet(scanner_.peek(), "'+=' is not there yet; write a new result, D = C + ..., instead");
    }
    if (!scanner_.peek().is("=")) {
      scanner_.fail(scanner_.peek(), "expected '=': a statement is a result and its value, as in " +
                                         std::string(kExample));
    }
    scanner_.next();
    statement.value = sum();
    if (assigned_.contains(statement.tensor)) {
      scanner_.fail(name,
                    concat("'", name.text, "' is assigned twice; give each result its own name"));
    }
    if (read_.contains(statement.tensor)) {
      scanner_.fail(name,
                    concat("'", name.text, "' is read as an operand, so it cannot be assigned; ",
                           "give the result another name"));
    }
    assigned_.insert(statement.tensor);
    return statement;
  }

  // A line that starts with an operator was meant to go on with the one before.
  void check_continuation(const Token& token) const {
    const bool is_operator = token.is("+") || token.is("-") || token.is("*") || token.is("/");
    if (!is_operator || assigned_.empty()) return;
    scanner_.fail(token, concat("an expression ends with its line, except after an operator and ",
                                "inside parentheses; put the '", token.text,
                                "' at the end of the line before"));
  }

  static void check_distinct(const Statement& statement) {
    std::set<std::string> seen;
    for (size_t at = 0; at < statement.indices.size(); ++at) {
      if (seen.insert(statement.indices[at]).second) continue;
      fail_at(statement.place.index(at), concat("the index '", statement.indices[at],
                                                "' stands twice on the left; use two indices"));
    }
  }

  // term (+|- term)*
  Expr sum() {
    count_operation();
    const size_t begin = begin_here();
    Expr left = product();
    while (here().is("+") || here().is("-")) {
      count_operation();
      const BinaryOp op = scanner_.next().is("+") ? BinaryOp::Add : BinaryOp::Sub;
      left = since(begin, Binary::make(op, left, product()));
    }
    return left;
  }

  // factor (*|/ factor)*
  Expr product() {
    const size_t begin = begin_here();
    Expr left = signed_factor();
    while (here().is("*") || here().is("/")) {
      count_operation();
      const BinaryOp op = scanner_.next().is("*") ? BinaryOp::Mul : BinaryOp::Div;
      left = since(begin, Binary::make(op, left, signed_factor()));
    }
    return left;
  }

  Expr signed_factor() {
    const size_t begin = begin_here();
    if (!scanner_.accept("-")) return factor();
    count_operation();
    const Expr value = signed_factor();
    if (const auto* literal = value.as<Literal>()) {
      return since(begin, Literal::make(-literal->value, literal->is_integer));
    }
    return since(begin, Unary::make(ElementFunction::Neg, value));
  }

  Expr factor() {
    const size_t begin = scanner_.index();
    const Token token = scanner_.peek();
    if (token.kind == TokenKind::Integer || token.kind == TokenKind::Float) {
      return since(begin, number());
    }
    if (token.is("(")) return parenthesized([&] { return sum(); });
    if (token.kind != TokenKind::Identifier) {
      scanner_.fail(token, "expected a tensor, a number, a function or '('");
    }
    scanner_.next();
    if (scanner_.peek().is("(")) return since(begin, call(token));
    std::vector<std::string> indices;
    std::vector<Span> places;
    if (scanner_.peek().is("[")) indices = subscripts(places);
    if (!assigned_.contains(std::string(token.text))) read_.insert(std::string(token.text));
    return since(begin, Access::make(next_id_++, std::string(token.text), std::move(indices)),
                 std::move(places));
  }

  Expr number() {
    const Token token = scanner_.next();
    double value = 0;
    const char* begin = token.text.data();
    const bool fits = std::from_chars(begin, begin + token.text.size(), value).ec == std::errc();
    const bool is_integer = token.kind == TokenKind::Integer;
    constexpr double exact = 9007199254740992.0;  // 2^53
    if (!fits || (is_integer && value >= exact)) {
      scanner_.fail(token,
                    concat("the number '", token.text, "' is too large; pass it as an operand"));
    }
    return Literal::make(value, is_integer);
  }

  Expr call(const Token& name) {
    if (name.is("sum")) return parenthesized([&] { return reduction(); });
    if (const std::optional<ElementFunction> function = element_function(name.text)) {
      return Unary::make(*function, parenthesized([&] { return sum(); }));
    }
    if (is_reserved(name.text)) {
      not_yet(name,
              concat("'", name.text, "' is not there yet; the functions are ", function_names()));
    }
    scanner_.fail(
        name, concat("there is no function '", name.text, "'; the functions are ", function_names(),
                     "; a tensor is subscripted as in ", name.text, "[i,j]"));
  }

  // Between the parentheses of sum(j, body) or sum((j,k), body).
  Expr reduction() {
    const Token first = here();
    const std::string expected = "the index to sum over, as in sum(j, A[i,j])";
    std::vector<std::string> indices;
    std::vector<Span> places;
    const bool several = scanner_.accept("(");
    do {
      const Token index = scanner_.expect(TokenKind::Identifier, expected);
      indices.emplace_back(index.text);
      places.push_back(scanner_.span_of(index));
    } while (several && scanner_.accept(","));
    if (several) scanner_.expect(")");
    if (here().is("in")) not_yet(here(), "'in' is not there yet; sums see the whole extent");
    if (!here().is(",")) scanner_.fail(several ? here() : first, concat("expected ", expected));
    scanner_.next();
    const size_t around = bound_.size();
    for (size_t at = 0; at < indices.size(); ++at) {
      const auto found = std::find(bound_.begin(), bound_.end(), indices[at]);
      if (found - bound_.begin() < static_cast<ptrdiff_t>(around)) {
        fail_at(places[at], concat("the index '", indices[at],
                                   "' is summed twice, by this sum and one around it; rename one ",
                                   "of the two"));
      }
      if (found != bound_.end()) {
        fail_at(places[at],
                concat("the index '", indices[at], "' stands twice in one sum; name each once"));
      }
      bound_.push_back(indices[at]);
    }
    Expr body = sum();
    bound_.resize(around);
    return placed(Reduce::make(std::move(indices), std::move(body)),
                  {.indices = std::move(places)});
  }

  // [i,j,...] and where each stands; the caller has seen the bracket.
  std::vector<std::string> subscripts(std::vector<Span>& places) {
    scanner_.expect("[");
    ++open_;
    std::vector<std::string> indices;
    do {
      const Token token = here();
      if (token.kind == TokenKind::Integer) {
        not_yet(token, "constants as subscripts are not there yet; slice the operand first");
      }
      scanner_.expect(TokenKind::Identifier, "an index, a name such as j");
      indices.emplace_back(token.text);
      places.push_back(scanner_.span_of(token));
      const Token after = here();
      if (after.is("+") || after.is("-") || after.is("*")) {
        not_yet(after, "affine subscripts are not there yet; slice the operand first");
      }
      if (after.is("[")) not_yet(after, "gathers are not there yet; gather the operand first");
      if (!after.is(",") && !after.is("]")) scanner_.fail(after, "expected ',' or ']'");
    } while (scanner_.accept(","));
    --open_;
    scanner_.expect("]");
    return indices;
  }

  template <typename Body>
  Expr parenthesized(const Body& body) {
    scanner_.expect("(");
    ++open_;
    Expr result = body();
    const Token close = here();
    --open_;
    if (!close.is(")")) fail_operator("')'");
    scanner_.next();
    return result;
  }

  // The number of the next token that is no line end.
  size_t begin_here() {
    skip_newlines();
    return scanner_.index();
  }

  // The node, which has been read from the token of that number on.
  Expr since(size_t begin, const Expr& expr, std::vector<Span> indices) const {
    return placed(expr, {.all = scanner_.span_since(begin), .indices = std::move(indices)});
  }
  Expr since(size_t begin, const Expr& expr) const {
    return since(begin, expr, expr->place.indices);
  }

  // What follows an operand is none of the operators, and nothing that may end the expression.
  [[noreturn]] void fail_operator(std::string_view end) const {
    const Token& token = scanner_.peek();
    if (token.is("[")) {
      scanner_.fail(token, "subscripts stand in one pair of brackets after a name, as in A[i,j]");
    }
    const bool closes = token.is(")") || token.is("]") || token.is(",");
    if (token.kind == TokenKind::Symbol && !closes) {
      scanner_.fail(token, concat("there is no operator '", token.text, "'; they are + - * /"));
    }
    scanner_.fail(token, concat("expected an operator or ", end));
  }

  // The next token; inside parentheses and brackets line ends mean nothing.
  const Token& here() {
    if (open_ > 0) skip_newlines();
    return scanner_.peek();
  }

  void skip_newlines() {
    while (scanner_.peek().kind == TokenKind::Newline) scanner_.next();
  }

  bool at_separator() const {
    return scanner_.peek().kind == TokenKind::Newline || scanner_.peek().is(";");
  }

  void skip_separators() {
    while (at_separator()) scanner_.next();
  }

  void count_operation() {
    if (++operations_ > kMaxOperations) {
      fail_at(scanner_.span_of(scanner_.peek()),
              concat("the statement has more than ", kMaxOperations,
                     " operations; split it into several"));
    }
  }

  [[noreturn]] void not_yet(const Token& at, const std::string& message) const {
    unsupported_at(scanner_.span_of(at), message);
  }

  Scanner scanner_;
  std::set<std::string> assigned_, read_;
  std::vector<std::string> bound_;  // by the sums around
  int next_id_ = 0;
  int operations_ = 0;
  int open_ = 0;  // parentheses and brackets
};

}  // namespace

Program parse_program(std::string_view text) { return ProgramParser(text).parse(); }

}  // namespace tulle::expr
