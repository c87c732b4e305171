// Makers of expressions, and what every pass asks of them.
#include "expr/expr.h"

#include <algorithm>

#include "expr/types.h"
#include "support/check.h"

namespace tulle::expr {

namespace {

void collect_accesses(const Expr& expr, std::vector<const Access*>& found) {
  if (const auto* access = expr.as<Access>()) found.push_back(access);
  if (const auto* unary = expr.as<Unary>()) collect_accesses(unary->value, found);
  if (const auto* reduce = expr.as<Reduce>()) collect_accesses(reduce->body, found);
  if (const auto* binary = expr.as<Binary>()) {
    collect_accesses(binary->a, found);
    collect_accesses(binary->b, found);
  }
}

void collect_free(const Expr& expr, std::vector<std::string>& bound,
                  std::vector<std::string>& found) {
  if (const auto* access = expr.as<Access>()) {
    for (const std::string& index : access->indices) {
      if (std::find(bound.begin(), bound.end(), index) != bound.end()) continue;
      if (std::find(found.begin(), found.end(), index) == found.end()) found.push_back(index);
    }
  }
  if (const auto* unary = expr.as<Unary>()) collect_free(unary->value, bound, found);
  if (const auto* binary = expr.as<Binary>()) {
    collect_free(binary->a, bound, found);
    collect_free(binary->b, bound, found);
  }
  if (const auto* reduce = expr.as<Reduce>()) {
    const size_t outside = bound.size();
    bound.insert(bound.end(), reduce->indices.begin(), reduce->indices.end());
    collect_free(reduce->body, bound, found);
    bound.resize(outside);
  }
}

}  // namespace

std::string_view text_of(ElementFunction function) {
  switch (function) {
#define X(name, text, keeps_zero, integers) \
  case ElementFunction::name:               \
    return text;
    TULLE_ELEMENT_FUNCTIONS(X)
#undef X
  }
  return "?";
}

std::string_view text_of(BinaryOp op) {
  constexpr std::string_view names[] = {"+", "-", "*", "/"};
  return names[static_cast<size_t>(op)];
}

Expr Literal::make(double value, bool is_integer, DType type) {
  return std::make_shared<const Literal>(type, value, is_integer);
}

Expr Access::make(int id, std::string tensor, std::vector<std::string> indices, DType type) {
  return std::make_shared<const Access>(type, id, std::move(tensor), std::move(indices));
}

Expr Unary::make(ElementFunction function, Expr value, std::optional<DType> type) {
  TULLE_CHECK(value);
  const DType result = type.value_or(value.type());
  return std::make_shared<const Unary>(result, function, std::move(value));
}

Expr Binary::make(BinaryOp op, Expr a, Expr b, std::optional<DType> type) {
  TULLE_CHECK(a && b);
  const DType result = type.value_or(promote_types(a.type(), b.type()));
  return std::make_shared<const Binary>(result, op, std::move(a), std::move(b));
}

Expr Reduce::make(std::vector<std::string> indices, Expr body) {
  TULLE_CHECK(body && !indices.empty());
  const DType type = body.type();
  return std::make_shared<const Reduce>(type, std::move(indices), std::move(body));
}

std::vector<const Access*> accesses(const Expr& expr) {
  std::vector<const Access*> found;
  collect_accesses(expr, found);
  return found;
}

std::vector<std::string> free_indices(const Expr& expr) {
  std::vector<std::string> bound;
  std::vector<std::string> found;
  collect_free(expr, bound, found);
  return found;
}

Expr placed(const Expr& expr, Place place) {
  switch (expr->kind) {
#define X(name)                                           \
  case ExprKind::name: {                                  \
    auto node = *expr.as<name>();                         \
    node.place = std::move(place);                        \
    return std::make_shared<const name>(std::move(node)); \
  }
    TULLE_EXPR_NODES(X)
#undef X
  }
  internal_error("unknown kind of expression");
}

Expr with_children(const Expr& expr, const std::function<Expr(const Expr&)>& change) {
  if (const auto* unary = expr.as<Unary>()) {
    Unary changed = *unary;
    changed.value = change(unary->value);
    if (changed.value.get() == unary->value.get()) return expr;
    return std::make_shared<const Unary>(std::move(changed));
  }
  if (const auto* binary = expr.as<Binary>()) {
    Binary changed = *binary;
    changed.a = change(binary->a);
    changed.b = change(binary->b);
    if (changed.a.get() == binary->a.get() && changed.b.get() == binary->b.get()) return expr;
    return std::make_shared<const Binary>(std::move(changed));
  }
  if (const auto* sum = expr.as<Reduce>()) {
    Reduce changed = *sum;
    changed.body = change(sum->body);
    if (changed.body.get() == sum->body.get()) return expr;
    return std::make_shared<const Reduce>(std::move(changed));
  }
  return expr;
}

}  // namespace tulle::expr
