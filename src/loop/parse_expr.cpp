// The expression parser, by precedence climbing. It checks types early enough for errors to point
// at the source.
#include "loop/parse_expr.h"

#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

#include "loop/literal.h"
#include "loop/precedence.h"
#include "support/check.h"

namespace tulle::loop {

namespace {

std::optional<BinaryOp> operator_from(const Token& token) {
  if (token.kind != TokenKind::Symbol) return std::nullopt;
#define X(name, spelling) \
  if (token.text == spelling) return BinaryOp::name;
  TULLE_LOOP_BINARY_OPS(X)
#undef X
  return std::nullopt;
}

std::optional<Function> function_from(std::string_view word) {
#define X(name, text, arguments) \
  if (word == text) return Function::name;
  TULLE_LOOP_FUNCTIONS(X)
#undef X
  return std::nullopt;
}

bool adjacent(const Token& first, const Token& second) {
  return first.offset + first.text.size() == second.offset;
}

}  // namespace

Expr LoopExprParser::parse() { return parse_binary(kLoosest); }

Expr LoopExprParser::parse_typed(Type type, std::string_view what) {
  const Token at = scanner_.peek();
  Expr expr = parse();
  if (expr.type() != type) {
    scanner_.fail(at, concat(what, " is ", to_string(expr.type()), ", expected ", to_string(type)));
  }
  return expr;
}

std::string LoopExprParser::parse_name(std::string_view what) {
  const Token token = scanner_.expect(TokenKind::Identifier, what);
  if (is_reserved(token.text)) {
    scanner_.fail(token,
                  concat("'", token.text, "' is a keyword; as a name it is written .", token.text));
  }
  return name_from_text(token.text);
}

Type LoopExprParser::parse_type() {
  const Token token = scanner_.expect(TokenKind::Identifier, "a type");
  const auto type = type_from_text(token.text);
  if (!type) scanner_.fail(token, "expected a type such as i64, f32 or f32x16");
  return *type;
}

DType LoopExprParser::parse_dtype() {
  const Token at = scanner_.peek();
  const Type type = parse_type();
  if (type.is_vector()) scanner_.fail(at, "expected a type of one lane");
  return type.scalar;
}

Buffer LoopExprParser::parse_buffer() {
  const Token token = scanner_.expect(TokenKind::Identifier, "a buffer");
  const auto found = names_.buffers.find(name_from_text(token.text));
  if (found == names_.buffers.end())
    scanner_.fail(token, concat("no buffer is called '", token.text, "'"));
  return found->second;
}

LoopExprParser::Element LoopExprParser::parse_element() {
  Element element;
  element.buffer = parse_buffer();
  scanner_.expect("[");
  const Token at = scanner_.peek();
  element.index = parse();
  if (element.index.type().scalar != DType::Int64) {
    scanner_.fail(at, concat("an index is i64, this is ", to_string(element.index.type())));
  }
  if (scanner_.accept("if")) {
    element.predicate = parse_typed(kBool.with_lanes(element.index.type().lanes), "the predicate");
  }
  scanner_.expect("]");
  return element;
}

Expr LoopExprParser::parse_binary(int precedence) {
  Expr left = parse_primary();
  while (true) {
    const Token at = scanner_.peek();
    const auto op = operator_from(at);
    if (!op || precedence_of(*op) < precedence) return left;
    scanner_.next();
    Expr right = parse_binary(precedence_of(*op) + 1);
    if (left.type() != right.type()) {
      scanner_.fail(at, concat("both operands need the same type: ", to_string(left.type()), " '",
                               at.text, "' ", to_string(right.type())));
    }
    if (is_logical(*op) && !left.type().is_bool()) {
      scanner_.fail(at, concat("'", at.text, "' is for bool, these are ", to_string(left.type())));
    }
    left = Binary::make(*op, left, right);
  }
}

Expr LoopExprParser::parse_primary() {
  const Token token = scanner_.peek();
  if (scanner_.accept("(")) {
    Expr inner = parse();
    scanner_.expect(")");
    return inner;
  }
  if (scanner_.accept("-")) {
    if (scanner_.peek().kind == TokenKind::Identifier) return parse_named_number(true);
    return parse_number(true);
  }
  if (token.kind == TokenKind::Integer || token.kind == TokenKind::Float)
    return parse_number(false);
  if (token.kind != TokenKind::Identifier) scanner_.fail(token, "expected an expression");
  if (token.is("inf") || token.is("nan")) return parse_named_number(false);
  if (token.is("true") || token.is("false"))
    return IntConst::make(scanner_.next().is("true"), kBool);
  if (scanner_.peek(1).is("(")) return parse_function(scanner_.next());
  if (scanner_.peek(1).is("[")) {
    const Element element = parse_element();
    return Load::make(element.buffer, element.index, element.predicate);
  }
  const std::string name = name_from_text(token.text);
  const auto found = names_.scalars.find(name);
  if (found == names_.scalars.end())
    scanner_.fail(token, concat("no variable is called '", token.text, "'"));
  scanner_.next();
  return Var::make(name, found->second);
}

Expr LoopExprParser::parse_number(bool negative) {
  const Token token = scanner_.next();
  if (token.kind != TokenKind::Integer && token.kind != TokenKind::Float) {
    scanner_.fail(token, "'-' may only precede a number; write neg(x) to negate a value");
  }
  Type type{token.kind == TokenKind::Integer ? DType::Int64 : DType::Float64, 1};
  const Token suffix = scanner_.peek();
  if (suffix.is(":")) {
    scanner_.next();
    const Token at = scanner_.peek();
    type = {parse_dtype(), 1};
    if (type.is_bool()) scanner_.fail(at, "a bool is 'true' or 'false'");
    if (token.kind == TokenKind::Float && !type.is_float())
      scanner_.fail(at, "a fraction needs a floating-point type");
  } else if (suffix.is("f") && adjacent(token, suffix) && token.kind == TokenKind::Float) {
    scanner_.next();
    type = {DType::Float32, 1};
  }
  const std::string text = concat(negative ? "-" : "", token.text);
  const auto read = [&](auto value) {
    const auto end = std::from_chars(text.data(), text.data() + text.size(), value);
    if (end.ec != std::errc())
      scanner_.fail(token, concat("'", text, "' does not fit ", to_string(type)));
    return value;
  };
  if (type.scalar == DType::Int32) return IntConst::make(read(int32_t{}), type);
  if (!type.is_float()) return IntConst::make(read(int64_t{}), type);
  if (type.scalar == DType::Float32) return FloatConst::make(read(float{}), type);
  return FloatConst::make(read(double{}), type);
}

Expr LoopExprParser::parse_named_number(bool negative) {
  const Token token = scanner_.next();
  const bool is_inf = token.is("inf");
  if (!is_inf && !token.is("nan")) {
    scanner_.fail(token, "'-' may only precede a number; write neg(x) to negate a value");
  }
  scanner_.expect(":");
  const Token at = scanner_.peek();
  const Type type{parse_dtype(), 1};
  if (!type.is_float()) scanner_.fail(at, concat("no ", to_string(type), " is ", token.text));
  const double value =
      is_inf ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
  return FloatConst::make(negative ? -value : value, type);
}

Expr LoopExprParser::parse_function(const Token& name) {
  scanner_.expect("(");
  Expr result;
  if (const auto type = dtype_from_name(name.text)) {
    result = Cast::make(*type, parse());
  } else if (name.is("select")) {
    result = parse_select(name);
  } else if (name.is("min") || name.is("max")) {
    result = parse_min_max(name.is("min") ? BinaryOp::Min : BinaryOp::Max);
  } else if (const auto function = function_from(name.text)) {
    std::vector<Expr> args{parse()};
    while (static_cast<int>(args.size()) < arguments_of(*function)) {
      scanner_.expect(",");
      args.push_back(parse_typed(args[0].type(), "the argument"));
    }
    result = Call::make(*function, std::move(args));
  } else {
    result = parse_lanes(name);
  }
  scanner_.expect(")");
  return result;
}

Expr LoopExprParser::parse_select(const Token& name) {
  Expr condition = parse();
  scanner_.expect(",");
  Expr yes = parse();
  scanner_.expect(",");
  Expr no = parse_typed(yes.type(), "the other case");
  if (condition.type() != kBool.with_lanes(yes.type().lanes)) {
    scanner_.fail(name, concat("the condition is ", to_string(condition.type()), ", the cases are ",
                               to_string(yes.type())));
  }
  return Select::make(condition, yes, no);
}

Expr LoopExprParser::parse_min_max(BinaryOp op) {
  Expr first = parse();
  scanner_.expect(",");
  return Binary::make(op, first, parse_typed(first.type(), "the other argument"));
}

// Parses functions that create vectors or exchange values between lanes.
Expr LoopExprParser::parse_lanes(const Token& name) {
  if (name.is("ramp") || name.is("broadcast")) {
    const Token at = scanner_.peek();
    Expr first = parse();
    if (first.type().is_vector()) scanner_.fail(at, "a vector of vectors");
    scanner_.expect(",");
    if (name.is("broadcast"))
      return Broadcast::make(first, parse_small("the number of lanes", 2, 1024));
    Expr stride = parse_typed(first.type(), "the stride");
    scanner_.expect(",");
    return Ramp::make(first, stride, parse_small("the number of lanes", 2, 1024));
  }
  if (name.is("vector_reduce")) {
    const ReduceOp op = parse_reduce_op();
    return VectorReduce::make(op, parse());
  }
  if (name.is("lane_reduce")) {
    const ReduceOp op = parse_reduce_op();
    Expr value = parse();
    scanner_.expect(",");
    return LaneReduce::make(op, value, parse_width());
  }
  if (name.is("lane_shuffle")) {
    const ShuffleMode mode = parse_shuffle_mode();
    Expr value = parse();
    scanner_.expect(",");
    Expr lane = parse();
    scanner_.expect(",");
    return LaneShuffle::make(mode, value, lane, parse_width());
  }
  scanner_.fail(name, concat("there is no function '", name.text, "'"));
}

ReduceOp LoopExprParser::parse_reduce_op() {
  const Token token = scanner_.expect(TokenKind::Identifier, "a reduction");
  scanner_.expect(",");
  const auto op = reduce_op_from(token.text);
  if (!op) scanner_.fail(token, "expected add, mul, min, max, and, or");
  return *op;
}

ShuffleMode LoopExprParser::parse_shuffle_mode() {
  const Token token = scanner_.expect(TokenKind::Identifier, "a shuffle mode");
  scanner_.expect(",");
  for (const ShuffleMode mode :
       {ShuffleMode::Index, ShuffleMode::Xor, ShuffleMode::Up, ShuffleMode::Down}) {
    if (token.text == text_of(mode)) return mode;
  }
  scanner_.fail(token, "expected index, xor, up or down");
}

int LoopExprParser::parse_width() {
  const Token at = scanner_.peek();
  const int width = parse_small("the width", 1, 32);
  if ((width & (width - 1)) != 0) scanner_.fail(at, "the width is a power of two");
  return width;
}

int LoopExprParser::parse_small(std::string_view what, int least, int most) {
  const Token at = scanner_.peek();
  const int64_t value = scanner_.expect_integer(what);
  if (value < least || value > most)
    scanner_.fail(at, concat(what, " is between ", least, " and ", most));
  return static_cast<int>(value);
}

std::optional<ReduceOp> reduce_op_from(std::string_view text) {
  for (const ReduceOp op :
       {ReduceOp::Add, ReduceOp::Mul, ReduceOp::Min, ReduceOp::Max, ReduceOp::And, ReduceOp::Or}) {
    if (text == text_of(op)) return op;
  }
  return std::nullopt;
}

}  // namespace tulle::loop
