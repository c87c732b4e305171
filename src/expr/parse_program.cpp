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
    if (const std::optional<Reduction> op = reduction_called(name.text)) {
      return parenthesized([&] { return reduction(*op); });
    }
    if (name.is("softmax") || name.is("log_softmax")) {
      return parenthesized([&] { return softmax(name.is("log_softmax")); });
    }
    if (name.is("where") || name.is("within")) {
      return parenthesized([&] { return name.is("where") ? choice() : mask(); });
    }
    if (name.is("index") || name.is("extent")) {
      return parenthesized([&] {
        const Token index = scanner_.expect(TokenKind::Identifier, "an index");
        return IndexValue::make(std::string(index.text), name.is("extent"));
      });
    }
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

  void expect_comma() {
    if (!here().is(",")) scanner_.fail(here(), "expected an operator or ','");
    scanner_.next();
  }

  // Between the parentheses of where(condition, yes, no).
  Expr choice() {
    const Expr condition = sum();
    expect_comma();
    const Expr yes = sum();
    expect_comma();
    return Choose::make(condition, yes, sum());
  }

  // Between the parentheses of within(A[i,j], value).
  Expr mask() {
    const Expr first = sum();
    expect_comma();
    return Binary::make(BinaryOp::Within, first, sum());
  }

  // The indices that a reduction names, (j,k) or j.
  struct Named {
    std::vector<std::string> indices;
    std::vector<Span> places;
  };

  Named reduced_indices(Reduction op) {
    const std::string expected = concat("the index to ", op == Reduction::Sum ? "sum" : "reduce",
                                        " over, as in ", text_of(op), "(j, A[i,j])");
    const Token first = here();
    Named named;
    const bool several = scanner_.accept("(");
    do {
      const Token index = scanner_.expect(TokenKind::Identifier, expected);
      named.indices.emplace_back(index.text);
      named.places.push_back(scanner_.span_of(index));
    } while (several && scanner_.accept(","));
    if (several) scanner_.expect(")");
    if (!here().is(",") && !here().is("in") && !here().is("stored")) {
      scanner_.fail(several ? here() : first, concat("expected ", expected));
    }
    return named;
  }

  // max(x, y) of two expressions; whether the first is an index is for the second to tell.
  bool is_elementwise(Reduction op) {
    if (op != Reduction::Max && op != Reduction::Min) return false;
    here();
    if (scanner_.peek().is("(")) {
      size_t at = 1;
      while (scanner_.peek(at).kind == TokenKind::Identifier && scanner_.peek(at + 1).is(","))
        at += 2;
      const bool is_list = scanner_.peek(at).kind == TokenKind::Identifier &&
                           scanner_.peek(at + 1).is(")") && at > 1;
      return !is_list;
    }
    if (scanner_.peek().kind != TokenKind::Identifier) return true;
    const Token& next = scanner_.peek(1);
    return !next.is(",") && !next.is("in") && !next.is("stored");
  }

  Expr elementwise(Reduction op, const Expr& first) {
    expect_comma();
    const Expr second = sum();
    return Binary::make(op == Reduction::Max ? BinaryOp::Max : BinaryOp::Min, first, second);
  }

  // Between the parentheses of sum(j, body), sum((j,k), body), max(j in A[i,j], body, empty=0).
  Expr reduction(Reduction op) {
    if (is_elementwise(op)) return elementwise(op, sum());
    const Token first = here();
    Named named = reduced_indices(op);
    const size_t around = bound_.size();
    bool stored = scanner_.accept("stored");
    Expr domain;
    if (here().is("in")) {
      scanner_.next();
      domain = sum();
      stored = true;
    }
    expect_comma();
    const size_t begin = begin_here();
    bound_.insert(bound_.end(), named.indices.begin(), named.indices.end());
    Expr body = sum();
    bound_.resize(around);
    const bool may_be_scalar = !stored && named.indices.size() == 1 && !first.is("(");
    if (may_be_scalar && (op == Reduction::Max || op == Reduction::Min)) {
      const std::vector<std::string> used = free_indices(body);
      if (std::find(used.begin(), used.end(), named.indices[0]) == used.end()) {
        if (!assigned_.contains(named.indices[0])) read_.insert(named.indices[0]);
        const Expr scalar =
            placed(Access::make(next_id_++, named.indices[0], {}), {.all = named.places[0]});
        return Binary::make(op == Reduction::Max ? BinaryOp::Max : BinaryOp::Min, scalar, body);
      }
    }
    if (domain) body = since(begin, Binary::make(BinaryOp::Within, domain, body));
    check_bound(named);
    if ((op == Reduction::ArgMax || op == Reduction::ArgMin) && named.indices.size() > 1) {
      fail_at(named.places[1],
              concat("'", text_of(op), "' gives the coordinate along one index; ", "name one"));
    }
    return placed(Reduce::make(op, std::move(named.indices), std::move(body), stored, empty_value(),
                               DType::Float32),
                  {.indices = std::move(named.places)});
  }

  // Between the parentheses of softmax(j in A[i,j], x); without `in` along the whole extent.
  Expr softmax(bool is_log) {
    const Token index =
        scanner_.expect(TokenKind::Identifier, "an index, as in softmax(j in A[i,j], x[i,j])");
    const bool stored = scanner_.accept("stored");
    Expr domain;
    if (here().is("in")) {
      scanner_.next();
      domain = sum();
    }
    expect_comma();
    const size_t begin = begin_here();
    Expr body = sum();
    if (domain) body = since(begin, Binary::make(BinaryOp::Within, domain, body));
    const std::vector<std::string> used = free_indices(body);
    if (std::find(used.begin(), used.end(), index.text) == used.end()) {
      scanner_.fail(index, concat("the softmax is along '", index.text,
                                  "', which stands nowhere in it; use it inside"));
    }
    // A 0 in the text is a value, so that the sum has one everywhere.
    if (!domain && !stored) {
      body = since(begin, Binary::make(BinaryOp::Add, body, Literal::make(0, true)));
    }
    return Softmax::make(std::string(index.text), body, is_log);
  }

  // , empty=v
  std::optional<double> empty_value() {
    if (!here().is(",")) return std::nullopt;
    scanner_.next();
    if (!here().is("empty"))
      scanner_.fail(here(), "expected empty=, the value of a reduction over nothing");
    scanner_.next();
    scanner_.expect("=");
    const bool negative = scanner_.accept("-");
    const Token token = here();
    if (token.kind != TokenKind::Integer && token.kind != TokenKind::Float) {
      scanner_.fail(token, "expected a number");
    }
    const double value = number().as<Literal>()->value;
    return negative ? -value : value;
  }

  void check_bound(const Named& named) const {
    for (size_t at = 0; at < named.indices.size(); ++at) {
      const std::string& index = named.indices[at];
      if (std::find(bound_.begin(), bound_.end(), index) != bound_.end()) {
        fail_at(named.places[at], concat("the index '", index,
                                         "' is summed twice, by this sum and one around it; rename "
                                         "one of the two"));
      }
      const auto here = named.indices.begin() + static_cast<ptrdiff_t>(at);
      if (std::find(named.indices.begin(), here, index) != here) {
        fail_at(named.places[at],
                concat("the index '", index, "' stands twice in one sum; name each once"));
      }
    }
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
