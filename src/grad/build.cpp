// Construction of expressions. resolve() sets the types of derived statements.
#include "grad/build.h"

#include <algorithm>

namespace tulle::grad {

using expr::Binary;
using expr::BinaryOp;
using expr::Expr;

namespace {

using Indices = std::vector<std::string>;

Expr binary(BinaryOp op, const Expr& a, const Expr& b) {
  return Binary::make(op, a, b, DType::Float32);
}

}  // namespace

Expr number(double value) {
  const bool is_integer = value == static_cast<double>(static_cast<int64_t>(value));
  return expr::Literal::make(value, is_integer);
}

Expr access(const std::string& tensor, const Indices& indices) {
  return expr::Access::make(0, tensor, indices);
}

Expr apply(expr::ElementFunction function, const Expr& argument) {
  return expr::Unary::make(function, argument, DType::Float32);
}

Expr operator+(const Expr& a, const Expr& b) { return binary(BinaryOp::Add, a, b); }
Expr operator-(const Expr& a, const Expr& b) { return binary(BinaryOp::Sub, a, b); }
Expr operator*(const Expr& a, const Expr& b) { return binary(BinaryOp::Mul, a, b); }
Expr operator/(const Expr& a, const Expr& b) { return binary(BinaryOp::Div, a, b); }
Expr negated(const Expr& a) { return apply(expr::ElementFunction::Neg, a); }
Expr smaller(const Expr& a, const Expr& b) { return binary(BinaryOp::Min, a, b); }
Expr larger(const Expr& a, const Expr& b) { return binary(BinaryOp::Max, a, b); }
Expr within(const Expr& mask, const Expr& value) { return binary(BinaryOp::Within, mask, value); }

Expr where(const Expr& condition, const Expr& yes, const Expr& no) {
  return expr::Choose::make(condition, yes, no, DType::Float32);
}

Expr sum(const Indices& indices, const Expr& value) {
  return indices.empty() ? value : expr::Reduce::make(indices, value);
}

Expr extent(const std::string& index) { return expr::IndexValue::make(index, true); }

bool contains(const Indices& indices, const std::string& index) {
  return std::find(indices.begin(), indices.end(), index) != indices.end();
}

bool contains_all(const Indices& indices, const Indices& wanted) {
  return std::all_of(wanted.begin(), wanted.end(),
                     [&](const std::string& index) { return contains(indices, index); });
}

Indices minus(Indices a, const Indices& b) {
  std::erase_if(a, [&](const std::string& index) { return contains(b, index); });
  return a;
}

Indices both(Indices a, const Indices& b) {
  std::erase_if(a, [&](const std::string& index) { return !contains(b, index); });
  return a;
}

}  // namespace tulle::grad
