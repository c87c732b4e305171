// The parser of reductions and softmax, and of max and min, which may be reductions or functions of
// two values.
#include <algorithm>

#include "expr/functions.h"
#include "expr/parse_expr.h"
#include "support/check.h"

namespace tulle::expr {

namespace {

bool is_free(const std::string& index, const Expr& expr) {
  const std::vector<std::string> used = free_indices(expr);
  return std::find(used.begin(), used.end(), index) != used.end();
}

// max or min of two values.
Expr extremum(Reduction op, const Expr& a, const Expr& b) {
  return Binary::make(op == Reduction::Max ? BinaryOp::Max : BinaryOp::Min, a, b);
}

}  // namespace

// Parses one of the first arguments of a call, which must be indices.
Token ExprParser::reduced_index(const FunctionCall& call) {
  const Token index = scanner_.here();
  if (index.kind == TokenKind::Identifier) {
    scanner_.next();
    for (const std::string_view after : {",", ")", "in", "stored"}) {
      if (scanner_.here().is(after)) return index;
    }
  }
  fail_at(scanner_.span_of(index),
          concat("'", call.name, "' needs an index as its first argument; write ",
                 usage_of(call.name)));
}

ExprParser::ReducedIndices ExprParser::reduced_indices(const FunctionCall& call) {
  ReducedIndices named;
  scanner_.here();
  const bool several = scanner_.accept("(");
  do {
    const Token index = reduced_index(call);
    named.indices.emplace_back(index.text);
    named.places.push_back(scanner_.span_of(index));
  } while (several && scanner_.accept(","));
  if (several) scanner_.expect(")");
  return named;
}

// Whether max or min is of two values. If the first argument may also be an index, the second one
// decides.
bool ExprParser::is_elementwise(Reduction op) {
  if (op != Reduction::Max && op != Reduction::Min) return false;
  scanner_.here();
  if (scanner_.peek().is("(")) {
    size_t at = 1;
    while (scanner_.peek(at).kind == TokenKind::Identifier && scanner_.peek(at + 1).is(","))
      at += 2;
    const bool is_list =
        scanner_.peek(at).kind == TokenKind::Identifier && scanner_.peek(at + 1).is(")") && at > 1;
    return !is_list;
  }
  if (scanner_.peek().kind != TokenKind::Identifier) return true;
  const Token& next = scanner_.peek(1);
  return !next.is(",") && !next.is("in") && !next.is("stored");
}

// Parses the expression after `in`; null if the next token is not `in`.
Expr ExprParser::domain() {
  if (!scanner_.here().is("in")) return {};
  scanner_.next();
  return sum();
}

// Parses the arguments of sum(j, body), sum((j,k), body) or max(j in A[i,j], body, empty=0).
Expr ExprParser::reduction(const FunctionCall& call, Reduction op) {
  if (is_elementwise(op)) {
    const Expr value = sum();
    expect_comma(call);
    return extremum(op, value, sum());
  }
  const Token first = scanner_.here();
  ReducedIndices named = reduced_indices(call);
  const size_t around = bound_.size();
  const bool says_stored = scanner_.accept("stored");
  const Expr within = domain();
  const bool stored = says_stored || within;
  expect_comma(call);
  const size_t begin = scanner_.begin_here();
  bound_.insert(bound_.end(), named.indices.begin(), named.indices.end());
  Expr body = sum();
  bound_.resize(around);
  const bool may_be_scalar = !stored && named.indices.size() == 1 && !first.is("(");
  if (may_be_scalar && (op == Reduction::Max || op == Reduction::Min)) {
    if (!is_free(named.indices[0], body)) {
      return extremum(op, placed(access(named.indices[0], {}), {.all = named.places[0]}), body);
    }
  }
  if (within) body = scanner_.since(begin, Binary::make(BinaryOp::Within, within, body));
  check_bound(named);
  if ((op == Reduction::ArgMax || op == Reduction::ArgMin) && named.indices.size() > 1) {
    fail_at(named.places[1],
            concat("'", text_of(op), "' returns the coordinate along one index; ", "give one"));
  }
  return placed(Reduce::make(op, std::move(named.indices), std::move(body), stored,
                             empty_value(call), DType::Float32),
                {.indices = std::move(named.places)});
}

// Parses the arguments of softmax(j in A[i,j], x). Without `in`, softmax covers the whole extent.
Expr ExprParser::softmax(const FunctionCall& call) {
  const Token index = reduced_index(call);
  const bool stored = scanner_.accept("stored");
  const Expr within = domain();
  expect_comma(call);
  const size_t begin = scanner_.begin_here();
  Expr body = sum();
  if (within) body = scanner_.since(begin, Binary::make(BinaryOp::Within, within, body));
  if (!is_free(std::string(index.text), body)) {
    scanner_.fail(index, concat("the softmax is along '", index.text,
                                "', which its argument does not use; use it there"));
  }
  // Adding a literal 0 gives the body a value everywhere.
  if (!within && !stored) {
    body = scanner_.since(begin, Binary::make(BinaryOp::Add, body, Literal::make(0, true)));
  }
  return Softmax::make(std::string(index.text), body, call.name == "log_softmax");
}

// Parses ", empty=v".
std::optional<double> ExprParser::empty_value(const FunctionCall& call) {
  if (!scanner_.here().is(",")) return std::nullopt;
  scanner_.next();
  if (!scanner_.here().is("empty"))
    fail_at(scanner_.span_of(scanner_.here()),
            concat("'", call.name, "' takes no further argument except empty=, its value ",
                   "over no entries; write ", usage_of(call.name)));
  scanner_.next();
  scanner_.expect("=");
  const bool negative = scanner_.accept("-");
  const Token token = scanner_.here();
  if (token.kind != TokenKind::Integer && token.kind != TokenKind::Float) {
    scanner_.fail(token, "expected a number");
  }
  const double value = number().as<Literal>()->value;
  return negative ? -value : value;
}

void ExprParser::check_bound(const ReducedIndices& named) const {
  for (size_t at = 0; at < named.indices.size(); ++at) {
    const std::string& index = named.indices[at];
    if (std::find(bound_.begin(), bound_.end(), index) != bound_.end()) {
      fail_at(named.places[at],
              concat("the index '", index,
                     "' is summed twice, by this sum and by an enclosing one; rename "
                     "one of the two"));
    }
    const auto here = named.indices.begin() + static_cast<ptrdiff_t>(at);
    if (std::find(named.indices.begin(), here, index) != here) {
      fail_at(named.places[at],
              concat("the index '", index, "' is twice in one sum; give each index once"));
    }
  }
}

}  // namespace tulle::expr
