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
  X(Reduce)

enum class ExprKind : uint8_t {
#define X(name) name,
  TULLE_EXPR_NODES(X)
#undef X
};

// Where a part of a program stands in the text that it was read from. Rewriting keeps it; what the
// compiler adds has the place of what it was added to, or none.
struct Place {
  Span all = {};
  std::vector<Span> indices = {};  // of an access, a sum, the left side of a statement
  std::string called = {};         // what messages call the tensor, if not by its name

  // Of one of the indices, or of all where that is not known.
  const Span& index(size_t at) const { return at < indices.size() ? indices[at] : all; }
};

// The type of a node is known after resolve(); before, it is Float32 and means nothing.
struct ExprNode {
  ExprKind kind;
  DType type;
  Place place;

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

// A number in the text (or a fill): weak in type promotion until resolved.
struct Literal : ExprNode {
  static constexpr ExprKind kKind = ExprKind::Literal;
  double value;
  bool is_integer;
  Literal(DType t, double v, bool i) : ExprNode(kKind, t), value(v), is_integer(i) {}
  static Expr make(double value, bool is_integer, DType type = DType::Float32);
};

// tensor[indices]; a scalar operand has none. `id` tells the accesses of one statement apart
// (A[k,i] * A[k,j]).
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

// Element functions of one argument. X(enumerator, text, keeps zero, accepts integers)
#define TULLE_ELEMENT_FUNCTIONS(X) \
  X(Neg, "neg", true, true)        \
  X(Abs, "abs", true, true)        \
  X(Relu, "relu", true, true)      \
  X(Sign, "sign", true, true)      \
  X(Square, "square", true, true)  \
  X(Sqrt, "sqrt", true, false)     \
  X(Floor, "floor", true, true)    \
  X(Ceil, "ceil", true, true)      \
  X(Round, "round", true, true)    \
  X(Trunc, "trunc", true, true)    \
  X(Sin, "sin", true, false)       \
  X(Tan, "tan", true, false)       \
  X(Asin, "asin", true, false)     \
  X(Atan, "atan", true, false)     \
  X(Sinh, "sinh", true, false)     \
  X(Tanh, "tanh", true, false)     \
  X(Asinh, "asinh", true, false)   \
  X(Atanh, "atanh", true, false)   \
  X(Expm1, "expm1", true, false)   \
  X(Log1p, "log1p", true, false)   \
  X(Erf, "erf", true, false)

enum class ElementFunction : uint8_t {
#define X(name, text, keeps_zero, integers) name,
  TULLE_ELEMENT_FUNCTIONS(X)
#undef X
};
std::string_view text_of(ElementFunction function);

// A value of another type is converted to the node's type first: sqrt of integers, say.
struct Unary : ExprNode {
  static constexpr ExprKind kKind = ExprKind::Unary;
  ElementFunction function;
  Expr value;
  Unary(DType t, ElementFunction f, Expr v)
      : ExprNode(kKind, t), function(f), value(std::move(v)) {}
  // The type is the value's where none is given.
  static Expr make(ElementFunction function, Expr value, std::optional<DType> type = std::nullopt);
};

enum class BinaryOp : uint8_t { Add, Sub, Mul, Div };
std::string_view text_of(BinaryOp op);

// An operand of another type is converted to the node's type first.
struct Binary : ExprNode {
  static constexpr ExprKind kKind = ExprKind::Binary;
  BinaryOp op;
  Expr a, b;
  Binary(DType t, BinaryOp o, Expr x, Expr y)
      : ExprNode(kKind, t), op(o), a(std::move(x)), b(std::move(y)) {}
  // The type is the one that both sides promote to where none is given.
  static Expr make(BinaryOp op, Expr a, Expr b, std::optional<DType> type = std::nullopt);
};

// sum(indices, body).
struct Reduce : ExprNode {
  static constexpr ExprKind kKind = ExprKind::Reduce;
  std::vector<std::string> indices;
  Expr body;
  Reduce(DType t, std::vector<std::string> i, Expr b)
      : ExprNode(kKind, t), indices(std::move(i)), body(std::move(b)) {}
  static Expr make(std::vector<std::string> indices, Expr body);  // of the body's type
};

// The node at another place in the text.
Expr placed(const Expr& expr, Place place);
// The node with its children passed through `change`, its type and place kept; itself where no
// child changed.
Expr with_children(const Expr& expr, const std::function<Expr(const Expr&)>& change);

// Text that parses back.
std::string to_string(const Expr& expr);
// The accesses, left to right.
std::vector<const Access*> accesses(const Expr& expr);
// Indices used and not bound by a Reduce inside, in order of first use.
std::vector<std::string> free_indices(const Expr& expr);

}  // namespace tulle::expr
