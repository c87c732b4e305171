// The parser of index notation.
#include <algorithm>
#include <array>
#include <charconv>
#include <set>

#include "expr/program.h"
#include "support/check.h"
#include "support/scanner.h"

namespace tulle::expr {

namespace {

// Trees are walked recursively: this bounds their depth.
constexpr int kMaxOperations = 250;  // of a statement; parentheses count

constexpr std::array kReserved = {"max",    "min",    "mean",    "prod",        "any",   "all",
                                  "argmax", "argmin", "softmax", "log_softmax", "where", "stored",
                                  "index",  "exp",    "log",     "cos",         "cosh",  "sigmoid"};

std::optional<ElementFunction> element_function(std::string_view name) {
#define X(enumerator, text, keeps_zero, integers) \
  if (name == (text)) return ElementFunction::enumerator;
  TULLE_ELEMENT_FUNCTIONS(X)
#undef X
  return std::nullopt;
}

std::string element_functions() {
  std::string names;
#define X(enumerator, text, keeps_zero, integers) names += ", " text;
  TULLE_ELEMENT_FUNCTIONS(X)
#undef X
  return names.substr(2);
}

class ProgramParser {
 public:
  explicit ProgramParser(std::string_view text)
      : scanner_(text, "index notation",
                 {.newlines = true, .symbols = {"+=", "=="}, .comment = "#"}) {}

  Program parse() {
    Program program;
    skip_separators();
    while (!scanner_.at_end()) {
      program.statements.push_back(statement());
      if (!scanner_.at_end() && !at_separator()) {
        scanner_.fail(scanner_.peek(), "expected an operator or the end of the statement");
      }
      skip_separators();
    }
    if (program.statements.empty()) {
      scanner_.fail(scanner_.peek(), "expected a statement, C[i,j] = A[i,k] * B[k,j] say");
    }
    return program;
  }

 private:
  Statement statement() {
    Statement statement;
    const Token name = scanner_.expect(TokenKind::Identifier, "the name of a result");
    statement.tensor = name.text;
    next_id_ = 0;
    operations_ = 0;
    if (scanner_.peek().is("[")) {
      const size_t begin = scanner_.index();
      statement.indices = subscripts();
      check_distinct(statement.indices, begin);
    }
    if (scanner_.peek().is("+=")) {
      not_yet(scanner_.peek(), "'+=' is not there yet; write a new result, D = C + ..., instead");
    }
    scanner_.expect("=");
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

  // The subscripts on the left, which start at token `begin`.
  void check_distinct(const std::vector<std::string>& indices, size_t begin) {
    std::set<std::string> seen;
    for (size_t at = 0; at < indices.size(); ++at) {
      if (seen.insert(indices[at]).second) continue;
      scanner_.rewind(begin);
      while (at > 0) at -= scanner_.next().is(",") ? 1 : 0;
      scanner_.fail(scanner_.peek(), concat("the index '", scanner_.peek().text,
                                            "' stands twice on the left; use two indices"));
    }
  }

  // term (+|- term)*
  Expr sum() {
    count_operation();
    Expr left = product();
    while (here().is("+") || here().is("-")) {
      count_operation();
      const BinaryOp op = scanner_.next().is("+") ? BinaryOp::Add : BinaryOp::Sub;
      left = Binary::make(op, left, product());
    }
    return left;
  }

  // factor (*|/ factor)*
  Expr product() {
    Expr left = signed_factor();
    while (here().is("*") || here().is("/")) {
      count_operation();
      const BinaryOp op = scanner_.next().is("*") ? BinaryOp::Mul : BinaryOp::Div;
      left = Binary::make(op, left, signed_factor());
    }
    return left;
  }

  Expr signed_factor() {
    skip_newlines();
    if (!scanner_.accept("-")) return factor();
    count_operation();
    const Expr value = signed_factor();
    if (const auto* literal = value.as<Literal>()) {
      return Literal::make(-literal->value, literal->is_integer);
    }
    return Unary::make(ElementFunction::Neg, value);
  }

  Expr factor() {
    const Token token = scanner_.peek();
    if (token.kind == TokenKind::Integer || token.kind == TokenKind::Float) return number();
    if (token.is("(")) return parenthesized([&] { return sum(); });
    if (token.kind != TokenKind::Identifier) {
      scanner_.fail(token, "expected a tensor, a number, a function or '('");
    }
    scanner_.next();
    if (scanner_.peek().is("(")) return call(token);
    std::vector<std::string> indices;
    if (scanner_.peek().is("[")) indices = subscripts();
    if (!assigned_.contains(std::string(token.text))) read_.insert(std::string(token.text));
    return Access::make(next_id_++, std::string(token.text), std::move(indices));
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
    if (std::find(kReserved.begin(), kReserved.end(), name.text) != kReserved.end()) {
      not_yet(name, concat("'", name.text, "' is not there yet; the functions are sum, ",
                           element_functions()));
    }
    scanner_.fail(name, concat("there is no function '", name.text, "'; the functions are sum, ",
                               element_functions()));
  }

  // Between the parentheses of sum(j, body) or sum((j,k), body).
  Expr reduction() {
    const Token first = here();
    const std::string expected = "the index to sum over, as in sum(j, A[i,j])";
    std::vector<std::string> indices;
    const bool several = scanner_.accept("(");
    do {
      indices.emplace_back(scanner_.expect(TokenKind::Identifier, expected).text);
    } while (several && scanner_.accept(","));
    if (several) scanner_.expect(")");
    if (here().is("in")) not_yet(here(), "'in' is not there yet; sums see the whole extent");
    if (!here().is(",")) scanner_.fail(several ? here() : first, concat("expected ", expected));
    scanner_.next();
    if (std::set<std::string>(indices.begin(), indices.end()).size() != indices.size()) {
      scanner_.fail(first, "an index stands twice in one sum; name each once");
    }
    for (const std::string& index : indices) {
      if (std::find(bound_.begin(), bound_.end(), index) != bound_.end()) {
        scanner_.fail(first,
                      concat("the index '", index, "' is summed twice, by this sum and one around ",
                             "it; rename one of the two"));
      }
    }
    bound_.insert(bound_.end(), indices.begin(), indices.end());
    Expr body = sum();
    bound_.resize(bound_.size() - indices.size());
    return Reduce::make(std::move(indices), std::move(body));
  }

  // [i,j,...]; the caller has seen the bracket.
  std::vector<std::string> subscripts() {
    scanner_.expect("[");
    ++open_;
    std::vector<std::string> indices;
    do {
      const Token token = here();
      if (token.kind == TokenKind::Integer) {
        not_yet(token, "constants as subscripts are not there yet; slice the operand first");
      }
      scanner_.expect(TokenKind::Identifier, "an index");
      indices.emplace_back(token.text);
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
    if (!close.is(")")) scanner_.fail(close, "expected an operator or ')'");
    scanner_.next();
    return result;
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
      scanner_.fail(scanner_.peek(), concat("the statement has more than ", kMaxOperations,
                                            " operations; split it into several"));
    }
  }

  [[noreturn]] void not_yet(const Token& at, const std::string& message) const {
    try {
      scanner_.fail(at, message);
    } catch (const UserError& error) {
      throw Unsupported(error.what());
    }
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
