// Index notation: expressions over accesses to tensors, as immutable trees.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "support/source.h"
#include "tulle/dtype.h"

namespace tulle::expr {

#define TULLE_EXPR_NODES(X) \
  X(Literal)                \
  X(Access)                 \
  X(Unary)                  \
  X(Binary)                 \
  X(Choose)                 \
  X(IndexValue)             \
  X(Softmax)                \
  X(Reduce)

enum class ExprKind : uint8_t {
#define X(name) name,
  TULLE_EXPR_NODES(X)
#undef X
};

// The position of a node in the text that it was parsed from. Rewrites keep it. A node that the
// compiler adds takes the place of its context, or has none.
struct SourcePlace {
  Span all = {};
  std::vector<Span> indices = {};  // of an access, a sum, the left side of a statement
  std::string called = {};         // the name of the tensor in messages, if it differs

  // The place of one index, or of the whole node if the index has none.
  const Span& index(size_t at) const { return at < indices.size() ? indices[at] : all; }
};

// resolve() sets the type of a node; before that it is Float32 and meaningless.
struct ExprNode {
  ExprKind kind;
  DType type;
  SourcePlace place;

 protected:
  ExprNode(ExprKind k, DType t) : kind(k), type(t) {}
};

class Expr {
 public:
  Expr() = default;
  template <typename Node>
  Expr(std::shared_ptr<const Node> node)
      : node_(std::move(node)) {}  // NOLINT: conversion from every node

  explicit operator bool() const { return node_ != nullptr; }
  const ExprNode* operator->() const { return node_.get(); }
  const ExprNode* get() const { return node_.get(); }
  DType type() const { return node_->type; }

  template <typename T>
  const T* as() const {
    return node_ && node_->kind == T::kKind ? static_cast<const T*>(node_.get()) : nullptr;
  }

 private:
  std::shared_ptr<const ExprNode> node_;
};

// A number in the text, or a fill value: weak in type promotion until resolved.
struct Literal : ExprNode {
  static constexpr ExprKind kKind = ExprKind::Literal;
  double value;
  bool is_integer;
  bool absent = false;  // a 0 that replaces a missing entry
  Literal(DType t, double v, bool i) : ExprNode(kKind, t), value(v), is_integer(i) {}
  static Expr make(double value, bool is_integer, DType type = DType::Float32);
};

// tensor[indices]; a scalar operand has no indices. `id` distinguishes the accesses of one
// statement (A[k,i] * A[k,j]); equal accesses share it.
struct Access : ExprNode {
  static constexpr ExprKind kKind = ExprKind::Access;
  int id;
  std::string tensor;
  std::vector<std::string> indices;
  Access(DType t, int i, std::string n, std::vector<std::string> x)
      : ExprNode(kKind, t), id(i), tensor(std::move(n)), indices(std::move(x)) {}
  static Expr make(int id, std::string tensor, std::vector<std::string> indices,
                   DType type = DType::Float32);
};

// Element functions of one argument. `ones` is 1 (int64) wherever its argument has a value.
// `position`, which only the compiler writes, is the position of an operand's entry in its storage.
// X(enumerator, name, whether it maps 0 to 0, whether it keeps integers).
#define TULLE_ELEMENT_FUNCTIONS(X)    \
  X(Neg, "neg", true, true)           \
  X(Abs, "abs", true, true)           \
  X(Relu, "relu", true, true)         \
  X(Sign, "sign", true, true)         \
  X(Square, "square", true, true)     \
  X(Sqrt, "sqrt", true, false)        \
  X(Floor, "floor", true, true)       \
  X(Ceil, "ceil", true, true)         \
  X(Round, "round", true, true)       \
  X(Trunc, "trunc", true, true)       \
  X(Sin, "sin", true, false)          \
  X(Tan, "tan", true, false)          \
  X(Asin, "asin", true, false)        \
  X(Atan, "atan", true, false)        \
  X(Sinh, "sinh", true, false)        \
  X(Tanh, "tanh", true, false)        \
  X(Asinh, "asinh", true, false)      \
  X(Atanh, "atanh", true, false)      \
  X(Expm1, "expm1", true, false)      \
  X(Log1p, "log1p", true, false)      \
  X(Erf, "erf", true, false)          \
  X(Exp, "exp", false, false)         \
  X(Log, "log", false, false)         \
  X(Cos, "cos", false, false)         \
  X(Cosh, "cosh", false, false)       \
  X(Sigmoid, "sigmoid", false, false) \
  X(Ones, "ones", true, true)         \
  X(Position, "position", true, true)

enum class ElementFunction : uint8_t {
#define X(name, text, keeps_zero, integers) name,
  TULLE_ELEMENT_FUNCTIONS(X)
#undef X
};
std::string_view text_of(ElementFunction function);
bool keeps_zero(ElementFunction function);
// Whether the function takes many instructions, as exp and sin do.
bool is_elementary(ElementFunction function);
// Whether the function depends on the entries of its argument, not on their values.
constexpr bool is_of_entries(ElementFunction function) {
  return function == ElementFunction::Ones || function == ElementFunction::Position;
}

// The value is converted to the node's type first, for example in sqrt of an integer.
struct Unary : ExprNode {
  static constexpr ExprKind kKind = ExprKind::Unary;
  ElementFunction function;
  Expr value;
  Unary(DType t, ElementFunction f, Expr v)
      : ExprNode(kKind, t), function(f), value(std::move(v)) {}
  // The default type is the type of the value.
  static Expr make(ElementFunction function, Expr value, std::optional<DType> type = std::nullopt);
};

// Max and Min propagate NaN. Within is the second operand where the first has an entry, and absent
// elsewhere.
enum class BinaryOp : uint8_t { Add, Sub, Mul, Div, Max, Min, Within };
std::string_view text_of(BinaryOp op);

// Both operands are converted to the node's type first.
struct Binary : ExprNode {
  static constexpr ExprKind kKind = ExprKind::Binary;
  BinaryOp op;
  Expr a, b;
  Binary(DType t, BinaryOp o, Expr x, Expr y)
      : ExprNode(kKind, t), op(o), a(std::move(x)), b(std::move(y)) {}
  // The default type is the one that both operands promote to.
  static Expr make(BinaryOp op, Expr a, Expr b, std::optional<DType> type = std::nullopt);
};

// where(condition, yes, no): `yes` where the condition is not 0, else `no`.
struct Choose : ExprNode {
  static constexpr ExprKind kKind = ExprKind::Choose;
  Expr condition, yes, no;
  Choose(DType t, Expr c, Expr y, Expr n)
      : ExprNode(kKind, t), condition(std::move(c)), yes(std::move(y)), no(std::move(n)) {}
  // The default type is the one that both values promote to.
  static Expr make(Expr condition, Expr yes, Expr no, std::optional<DType> type = std::nullopt);
};

// index(j), the coordinate, or extent(j), the number of coordinates; int64.
struct IndexValue : ExprNode {
  static constexpr ExprKind kKind = ExprKind::IndexValue;
  std::string index;
  bool is_extent;
  IndexValue(std::string i, bool e)
      : ExprNode(kKind, DType::Int64), index(std::move(i)), is_extent(e) {}
  static Expr make(std::string index, bool is_extent);
};

// Reductions. ExpSum, which only the compiler writes, is the sum of y * exp(x - max x) for a body
// within(x, y).
// X(enumerator, text, whether the result has the type of the body)
#define TULLE_REDUCTIONS(X)        \
  X(Sum, "sum", true)              \
  X(Prod, "prod", true)            \
  X(Max, "max", true)              \
  X(Min, "min", true)              \
  X(Mean, "mean", false)           \
  X(ArgMax, "argmax", false)       \
  X(ArgMin, "argmin", false)       \
  X(LogSumExp, "logsumexp", false) \
  X(ExpSum, "expsum", false)

enum class Reduction : uint8_t {
#define X(name, text, same_type) name,
  TULLE_REDUCTIONS(X)
#undef X
};
std::string_view text_of(Reduction op);

// max(indices, body) covers every coordinate and takes absent values as 0. With `stored`, written
// `j in A[i,j]`, it covers only coordinates at which the body has a value. A sum over no entries is
// absent, and so is a reduction with an `empty` of 0; other reductions always have a value.
struct Reduce : ExprNode {
  static constexpr ExprKind kKind = ExprKind::Reduce;
  Reduction op;
  std::vector<std::string> indices;
  Expr body;
  bool stored = false;
  std::optional<double> empty = std::nullopt;  // the explicit value over no entries
  Reduce(DType t, Reduction o, std::vector<std::string> i, Expr b)
      : ExprNode(kKind, t), op(o), indices(std::move(i)), body(std::move(b)) {}
  // A sum, in the type of the body.
  static Expr make(std::vector<std::string> indices, Expr body);
  static Expr make(Reduction op, std::vector<std::string> indices, Expr body, bool stored,
                   std::optional<double> empty, DType type);
};

// Whether a reduction over no entries is absent rather than a number.
bool is_absent_over_nothing(const Reduce& reduce);

// softmax(index in A[i,j], x) or its logarithm: exp(x) divided by the sum of exp(x) along the
// index, over the coordinates at which the body has a value; absent elsewhere. The index stays
// free.
struct Softmax : ExprNode {
  static constexpr ExprKind kKind = ExprKind::Softmax;
  std::string index;
  Expr body;
  bool is_log;
  Softmax(DType t, std::string i, Expr b, bool l)
      : ExprNode(kKind, t), index(std::move(i)), body(std::move(b)), is_log(l) {}
  // The type is the body's, or float32 if that is not a floating-point type.
  static Expr make(std::string index, Expr body, bool is_log);
};

// The node with another source place.
Expr placed(const Expr& expr, SourcePlace place);
// The node with `change` applied to its children; type and place stay. Returns the node itself if
// no child changed.
Expr with_children(const Expr& expr, const std::function<Expr(const Expr&)>& change);

// The children, left to right.
std::vector<Expr> children(const Expr& expr);

// Prints text that parses back.
std::string to_string(const Expr& expr);
// Whether both print alike and have the same type. The text alone does not distinguish a sum of
// integers from a sum of floating-point numbers.
bool is_same(const Expr& one, const Expr& other);
// The accesses, left to right.
std::vector<const Access*> accesses(const Expr& expr);
// The indices that no inner Reduce binds, in order of first use.
std::vector<std::string> free_indices(const Expr& expr);

}  // namespace tulle::expr
