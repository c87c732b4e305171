// Expressions of the loop IR: small, typed, immutable trees. Variables are referenced by name.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "loop/type.h"

namespace tulle::loop {

#define TULLE_LOOP_EXPRS(X) \
  X(IntConst)               \
  X(FloatConst)             \
  X(Var)                    \
  X(Binary)                 \
  X(Select)                 \
  X(Cast)                   \
  X(Call)                   \
  X(Load)                   \
  X(Ramp)                   \
  X(Broadcast)              \
  X(VectorReduce)           \
  X(LaneReduce)             \
  X(LaneShuffle)

enum class ExprKind : uint8_t {
#define X(name) name,
  TULLE_LOOP_EXPRS(X)
#undef X
};

struct ExprNode {
  ExprKind kind;
  Type type;

 protected:
  ExprNode(ExprKind k, Type t) : kind(k), type(t) {}
};

// A shared, immutable expression. Null only where a field allows it.
class Expr {
 public:
  Expr() = default;
  template <typename Node>
  Expr(std::shared_ptr<const Node> node)
      : node_(std::move(node)) {}  // NOLINT: conversion from every node

  explicit operator bool() const { return node_ != nullptr; }
  const ExprNode* operator->() const { return node_.get(); }
  const ExprNode& operator*() const { return *node_; }
  const ExprNode* get() const { return node_.get(); }
  Type type() const { return node_->type; }

  // The node as a T, or null if it is of another kind.
  template <typename T>
  const T* as() const {
    return node_ && node_->kind == T::kKind ? static_cast<const T*>(node_.get()) : nullptr;
  }

 private:
  std::shared_ptr<const ExprNode> node_;
};

// X(enumerator, text). No operator takes f16 or bf16. Comparisons and logical operators return
// bool. `Div` and `Mod` of integers truncate as in C and return 0 for a divisor of 0. Min and Max
// propagate NaN. On bool, Add is `or` and Mul is `and`. A shift count is taken modulo the width.
// Integers wrap. And and Or of scalars short-circuit.
#define TULLE_LOOP_BINARY_OPS(X) \
  X(Add, "+")                    \
  X(Sub, "-")                    \
  X(Mul, "*")                    \
  X(Div, "/")                    \
  X(Mod, "%")                    \
  X(Min, "min")                  \
  X(Max, "max")                  \
  X(Eq, "==")                    \
  X(Ne, "!=")                    \
  X(Lt, "<")                     \
  X(Le, "<=")                    \
  X(Gt, ">")                     \
  X(Ge, ">=")                    \
  X(And, "&&")                   \
  X(Or, "||")                    \
  X(BitAnd, "&")                 \
  X(BitOr, "|")                  \
  X(BitXor, "^")                 \
  X(Shl, "<<")                   \
  X(Shr, ">>")

enum class BinaryOp : uint8_t {
#define X(name, text) name,
  TULLE_LOOP_BINARY_OPS(X)
#undef X
};

std::string_view text_of(BinaryOp op);
bool is_comparison(BinaryOp op);
bool is_logical(BinaryOp op);

// Functions whose operands and result have one type, by the name with which they print. Pow2 is 2^x
// of an integral x for which 2^x is normal. Exponent and Mantissa decompose a positive normal
// number; the mantissa is in [1, 2). The result of the three is unspecified for other numbers. Exp2
// is 2^x of any float32 x with an error of at most 2 ulp, where subnormal numbers may count as 0;
// only GPUs have it. Decay is e^x for x <= 0, for terms relative to the largest one; its error is
// at most one ulp of 1. X(enumerator, text, arguments)
#define TULLE_LOOP_FUNCTIONS(X) \
  X(Neg, "neg", 1)              \
  X(Not, "not", 1)              \
  X(Abs, "abs", 1)              \
  X(Sqrt, "sqrt", 1)            \
  X(Floor, "floor", 1)          \
  X(Ceil, "ceil", 1)            \
  X(Round, "round", 1)          \
  X(Trunc, "trunc", 1)          \
  X(Sin, "sin", 1)              \
  X(Tan, "tan", 1)              \
  X(Asin, "asin", 1)            \
  X(Atan, "atan", 1)            \
  X(Sinh, "sinh", 1)            \
  X(Tanh, "tanh", 1)            \
  X(Asinh, "asinh", 1)          \
  X(Atanh, "atanh", 1)          \
  X(Expm1, "expm1", 1)          \
  X(Log1p, "log1p", 1)          \
  X(Erf, "erf", 1)              \
  X(Exp, "exp", 1)              \
  X(Log, "log", 1)              \
  X(Cos, "cos", 1)              \
  X(Cosh, "cosh", 1)            \
  X(Sigmoid, "sigmoid", 1)      \
  X(Decay, "decay", 1)          \
  X(Exp2, "exp2", 1)            \
  X(Pow2, "pow2", 1)            \
  X(Exponent, "exponent", 1)    \
  X(Mantissa, "mantissa", 1)    \
  X(Fma, "fma", 3)

enum class Function : uint8_t {
#define X(name, text, arguments) name,
  TULLE_LOOP_FUNCTIONS(X)
#undef X
};

std::string_view text_of(Function function);
int arguments_of(Function function);

// The operations that combine partial results in vector and lane reductions and in atomics.
enum class ReduceOp : uint8_t { Add, Mul, Min, Max, And, Or };
std::string_view text_of(ReduceOp op);

// Where a buffer is stored. `Local` is private to a thread and has a constant size (registers or
// stack). `Workspace` is private to a CPU worker and has any size. `Shared` belongs to a GPU block.
enum class Space : uint8_t { Global, Shared, Local, Workspace };
std::string_view text_of(Space space);

struct BufferNode {
  std::string name;
  DType element;
  Space space;
};
using Buffer = std::shared_ptr<const BufferNode>;
Buffer make_buffer(std::string name, DType element, Space space = Space::Global);

struct IntConst : ExprNode {  // integers and bools
  static constexpr ExprKind kKind = ExprKind::IntConst;
  int64_t value;
  IntConst(Type t, int64_t v) : ExprNode(kKind, t), value(v) {}
  static Expr make(int64_t value, Type type = kIndex);
};

struct FloatConst : ExprNode {  // rounded to its type
  static constexpr ExprKind kKind = ExprKind::FloatConst;
  double value;
  FloatConst(Type t, double v) : ExprNode(kKind, t), value(v) {}
  static Expr make(double value, Type type);
};

struct Var : ExprNode {
  static constexpr ExprKind kKind = ExprKind::Var;
  std::string name;
  Var(Type t, std::string n) : ExprNode(kKind, t), name(std::move(n)) {}
  static Expr make(std::string name, Type type = kIndex);
};

struct Binary : ExprNode {
  static constexpr ExprKind kKind = ExprKind::Binary;
  BinaryOp op;
  Expr a, b;
  Binary(Type t, BinaryOp o, Expr x, Expr y)
      : ExprNode(kKind, t), op(o), a(std::move(x)), b(std::move(y)) {}
  // Folds constants and neutral elements of integers. Both operands have the same type.
  static Expr make(BinaryOp op, Expr a, Expr b);
};

struct Select : ExprNode {  // of scalars: evaluates only the selected operand
  static constexpr ExprKind kKind = ExprKind::Select;
  Expr condition, yes, no;
  Select(Type t, Expr c, Expr y, Expr n)
      : ExprNode(kKind, t), condition(std::move(c)), yes(std::move(y)), no(std::move(n)) {}
  static Expr make(Expr condition, Expr yes, Expr no);
};

struct Cast : ExprNode {  // f16 and bf16: only from and to f32
  static constexpr ExprKind kKind = ExprKind::Cast;
  Expr value;
  Cast(Type t, Expr v) : ExprNode(kKind, t), value(std::move(v)) {}
  static Expr make(DType scalar, Expr value);
};

struct Call : ExprNode {
  static constexpr ExprKind kKind = ExprKind::Call;
  Function function;
  std::vector<Expr> args;
  Call(Type t, Function f, std::vector<Expr> a)
      : ExprNode(kKind, t), function(f), args(std::move(a)) {}
  static Expr make(Function function, std::vector<Expr> args);
};

// buffer[index]. A vector index gathers; a Ramp of stride one loads a contiguous vector. Lanes with
// a false predicate (null: always true) access no memory and read 0.
struct Load : ExprNode {
  static constexpr ExprKind kKind = ExprKind::Load;
  Buffer buffer;
  Expr index;
  Expr predicate;
  Load(Type t, Buffer b, Expr i, Expr p)
      : ExprNode(kKind, t), buffer(std::move(b)), index(std::move(i)), predicate(std::move(p)) {}
  static Expr make(Buffer buffer, Expr index, Expr predicate = {});
};

struct Ramp : ExprNode {  // base, base + stride, ...
  static constexpr ExprKind kKind = ExprKind::Ramp;
  Expr base, stride;
  Ramp(Type t, Expr b, Expr s) : ExprNode(kKind, t), base(std::move(b)), stride(std::move(s)) {}
  static Expr make(Expr base, Expr stride, int lanes);
};

struct Broadcast : ExprNode {
  static constexpr ExprKind kKind = ExprKind::Broadcast;
  Expr value;
  Broadcast(Type t, Expr v) : ExprNode(kKind, t), value(std::move(v)) {}
  static Expr make(Expr value, int lanes);
};

// Reduces the lanes of one vector to a scalar.
struct VectorReduce : ExprNode {
  static constexpr ExprKind kKind = ExprKind::VectorReduce;
  ReduceOp op;
  Expr value;
  VectorReduce(Type t, ReduceOp o, Expr v) : ExprNode(kKind, t), op(o), value(std::move(v)) {}
  static Expr make(ReduceOp op, Expr value);
};

// Reduces over groups of `width` neighbouring lanes (GPU threads). Every lane of a group gets the
// result.
struct LaneReduce : ExprNode {
  static constexpr ExprKind kKind = ExprKind::LaneReduce;
  ReduceOp op;
  Expr value;
  int width;
  LaneReduce(Type t, ReduceOp o, Expr v, int w)
      : ExprNode(kKind, t), op(o), value(std::move(v)), width(w) {}
  static Expr make(ReduceOp op, Expr value, int width);
};

enum class ShuffleMode : uint8_t { Index, Xor, Up, Down };
std::string_view text_of(ShuffleMode mode);

// The value of another lane of a group of `width` lanes: `lane` modulo width, own ^ lane, own -
// lane or own + lane. In the last three modes a lane keeps its own value if the other lane is
// outside the group or if `lane` is negative.
struct LaneShuffle : ExprNode {
  static constexpr ExprKind kKind = ExprKind::LaneShuffle;
  ShuffleMode mode;
  Expr value, lane;
  int width;
  LaneShuffle(Type t, ShuffleMode m, Expr v, Expr l, int w)
      : ExprNode(kKind, t), mode(m), value(std::move(v)), lane(std::move(l)), width(w) {}
  static Expr make(ShuffleMode mode, Expr value, Expr lane, int width);
};

// Shorthands for index arithmetic and conditions. They fold constants.
Expr operator+(const Expr& a, const Expr& b);
Expr operator-(const Expr& a, const Expr& b);
Expr operator*(const Expr& a, const Expr& b);
Expr operator+(const Expr& a, int64_t b);
Expr operator-(const Expr& a, int64_t b);
Expr operator*(const Expr& a, int64_t b);
Expr operator<(const Expr& a, const Expr& b);
Expr operator<=(const Expr& a, const Expr& b);
Expr operator==(const Expr& a, const Expr& b);
Expr operator!=(const Expr& a, const Expr& b);
Expr both(const Expr& a, const Expr& b);
Expr minimum(const Expr& a, const Expr& b);
Expr maximum(const Expr& a, const Expr& b);
Expr ceil_divide(const Expr& a, int64_t b);

// A constant of any type.
Expr constant(Type type, double value);
// Whether the expression is the constant integer `value`.
bool is_constant(const Expr& expr, int64_t value);
// Structural equality; variables compare by name.
bool same(const Expr& a, const Expr& b);

}  // namespace tulle::loop
