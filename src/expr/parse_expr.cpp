// The parser of expressions: operators, numbers, tensors and calls.
#include "expr/parse_expr.h"

#include <charconv>

#include "expr/functions.h"
#include "support/check.h"

namespace tulle::expr {

namespace {

// Recursive functions walk the trees; this limits the depth.
constexpr int kMaxOperations = 250;  // per statement; parentheses count

}  // namespace

Expr ExprParser::parenthesized() {
  scanner_.expect("(");
  scanner_.open();
  Expr result = sum();
  const Token close = scanner_.here();
  scanner_.close();
  if (!close.is(")")) scanner_.fail_operator("')'");
  scanner_.next();
  return result;
}

// The arguments of a call, between the parentheses.
template <typename Body>
Expr ExprParser::arguments(const FunctionCall& call, const Body& body) {
  scanner_.expect("(");
  scanner_.open();
  if (scanner_.here().is(")")) fail_arguments(call, "");
  Expr result = body();
  if (!scanner_.here().is(")")) fail_arguments(call, "')'");
  scanner_.close();
  scanner_.next();
  return result;
}

Expr ExprParser::sum() {
  count_operation();
  const size_t begin = scanner_.begin_here();
  Expr left = product();
  while (scanner_.here().is("+") || scanner_.here().is("-")) {
    count_operation();
    const BinaryOp op = scanner_.next().is("+") ? BinaryOp::Add : BinaryOp::Sub;
    left = scanner_.since(begin, Binary::make(op, left, product()));
  }
  return left;
}

// factor (*|/ factor)*
Expr ExprParser::product() {
  const size_t begin = scanner_.begin_here();
  Expr left = signed_factor();
  while (scanner_.here().is("*") || scanner_.here().is("/")) {
    count_operation();
    const BinaryOp op = scanner_.next().is("*") ? BinaryOp::Mul : BinaryOp::Div;
    left = scanner_.since(begin, Binary::make(op, left, signed_factor()));
  }
  return left;
}

Expr ExprParser::signed_factor() {
  const size_t begin = scanner_.begin_here();
  if (!scanner_.accept("-")) return factor();
  count_operation();
  const Expr value = signed_factor();
  if (const auto* literal = value.as<Literal>()) {
    return scanner_.since(begin, Literal::make(-literal->value, literal->is_integer));
  }
  return scanner_.since(begin, Unary::make(ElementFunction::Neg, value));
}

Expr ExprParser::factor() {
  const size_t begin = scanner_.index();
  const Token token = scanner_.peek();
  if (token.kind == TokenKind::Integer || token.kind == TokenKind::Float) {
    return scanner_.since(begin, number());
  }
  if (token.is("(")) return parenthesized();
  if (token.kind != TokenKind::Identifier) {
    scanner_.fail(token, "expected a tensor, a number, a function or '('");
  }
  if (scanner_.peek(1).is("(")) return scanner_.since(begin, call());
  scanner_.next();
  std::vector<std::string> indices;
  std::vector<Span> places;
  if (scanner_.peek().is("[")) indices = subscripts(places);
  return scanner_.since(begin, access(std::string(token.text), std::move(indices)),
                        std::move(places));
}

Expr ExprParser::access(const std::string& name, std::vector<std::string> indices) {
  if (!names_.assigned.contains(name)) names_.read.insert(name);
  return Access::make(next_id_++, name, std::move(indices));
}

Expr ExprParser::number() {
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
  if (writer_ == Writer::Compiler && scanner_.accept(":")) {
    scanner_.expect(name_of(DType::Bool));
    return Literal::make(value, is_integer, DType::Bool);
  }
  return Literal::make(value, is_integer);
}

Expr ExprParser::call() {
  const size_t begin = scanner_.index();
  const Token name = scanner_.next();
  const FunctionCall call{name.text, begin};
  if (const std::optional<Reduction> op = reduction_called(name.text)) {
    return arguments(call, [&] { return reduction(call, *op); });
  }
  if (name.is("softmax") || name.is("log_softmax")) {
    return arguments(call, [&] { return softmax(call); });
  }
  if (name.is("where") || name.is("within")) {
    return arguments(call, [&] { return name.is("where") ? choice(call) : mask(call); });
  }
  if (name.is("index") || name.is("extent")) {
    return arguments(call, [&] {
      const Token index = scanner_.expect(TokenKind::Identifier, "an index");
      return IndexValue::make(std::string(index.text), name.is("extent"));
    });
  }
  if (const auto function = element_function(name.text, writer_)) {
    return Unary::make(*function, arguments(call, [&] { return sum(); }));
  }
  if (is_reserved(name.text)) {
    scanner_.not_yet(name, concat("'", name.text, "' is not supported yet; the functions are ",
                                  function_names()));
  }
  scanner_.fail(name,
                concat("there is no function '", name.text, "'", instead_of_function(name.text),
                       "; the functions are ", function_names(), "; a tensor is subscripted as in ",
                       name.text, "[i,j]"));
}

void ExprParser::expect_comma(const FunctionCall& call) {
  if (!scanner_.here().is(",")) fail_arguments(call, "','");
  scanner_.next();
}

// Throws because the call has too few or too many arguments, or because the next token is not
// `expected`.
void ExprParser::fail_arguments(const FunctionCall& call, std::string_view expected) {
  const Token token = scanner_.here();
  if (token.is(",")) {
    fail_at(scanner_.span_of(token),
            concat("'", call.name, "' takes no further argument; write ", usage_of(call.name)));
  }
  if (!token.is(")")) scanner_.fail_operator(expected);
  scanner_.next();
  fail_at(scanner_.span_since(call.begin),
          concat("'", call.name, "' needs another argument; write ", usage_of(call.name)));
}

// The arguments of where(condition, yes, no).
Expr ExprParser::choice(const FunctionCall& call) {
  const Expr condition = sum();
  expect_comma(call);
  const Expr yes = sum();
  expect_comma(call);
  return Choose::make(condition, yes, sum());
}

// The arguments of within(A[i,j], value).
Expr ExprParser::mask(const FunctionCall& call) {
  const Expr first = sum();
  expect_comma(call);
  return Binary::make(BinaryOp::Within, first, sum());
}

std::vector<std::string> ExprParser::subscripts(std::vector<Span>& places) {
  scanner_.expect("[");
  scanner_.open();
  std::vector<std::string> indices;
  do {
    const Token token = scanner_.here();
    if (token.kind == TokenKind::Integer) {
      scanner_.not_yet(token,
                       "constants as subscripts are not supported yet; multiply by a vector that "
                       "is 1 there and 0 "
                       "elsewhere, as in y[i] = A[i,j] * e[j]");
    }
    scanner_.expect(TokenKind::Identifier, "an index, a name such as j");
    indices.emplace_back(token.text);
    places.push_back(scanner_.span_of(token));
    const Token after = scanner_.here();
    const bool computes = after.is("+") || after.is("-") || after.is("*") || after.is("/");
    if (computes && !scanner_.is_bracket_closed()) {
      scanner_.fail(
          after, concat("expected ']' before '", after.text,
                        "': the bracket of the subscripts is not closed, as in A[",
                        indices.size() > 1 ? "i," : "", indices.back(), "] ", after.text, " ..."));
    }
    if (computes) {
      scanner_.not_yet(
          after,
          "affine subscripts are not supported yet; multiply by a sparse matrix that shifts, as in "
          "S[i,k] * A[k,j], or slice a dense operand in torch");
    }
    if (after.is("["))
      scanner_.not_yet(
          after,
          "gathers are not supported yet; multiply by a sparse matrix with a 1 in each row, as in "
          "G[i,k] * A[k,j], or gather a dense operand in torch");
    if (!after.is(",") && !after.is("]")) scanner_.fail(after, "expected ',' or ']'");
  } while (scanner_.accept(","));
  scanner_.close();
  scanner_.expect("]");
  return indices;
}

void ExprParser::count_operation() {
  if (++operations_ > kMaxOperations) {
    fail_at(scanner_.span_of(scanner_.peek()),
            concat("the statement has more than ", kMaxOperations,
                   " operations; split it into several"));
  }
}

}  // namespace tulle::expr
