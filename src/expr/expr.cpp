// Construction of expressions, and queries.
#include "expr/expr.h"

#include <algorithm>

#include "expr/types.h"
#include "support/check.h"

namespace tulle::expr {

namespace {

void collect_accesses(const Expr& expr, std::vector<const Access*>& found) {
  if (const auto* access = expr.as<Access>()) found.push_back(access);
  for (const Expr& child : children(expr)) collect_accesses(child, found);
}

void collect_free(const Expr& expr, std::vector<std::string>& bound,
                  std::vector<std::string>& found) {
  auto use = [&](const std::string& index) {
    if (std::find(bound.begin(), bound.end(), index) != bound.end()) return;
    if (std::find(found.begin(), found.end(), index) == found.end()) found.push_back(index);
  };
  if (const auto* access = expr.as<Access>()) {
    for (const std::string& index : access->indices) use(index);
  }
  if (const auto* value = expr.as<IndexValue>(); value && !value->is_extent) use(value->index);
  const size_t outside = bound.size();
  if (const auto* reduce = expr.as<Reduce>()) {
    bound.insert(bound.end(), reduce->indices.begin(), reduce->indices.end());
  }
  for (const Expr& child : children(expr)) collect_free(child, bound, found);
  bound.resize(outside);
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

bool keeps_zero(ElementFunction function) {
  switch (function) {
#define X(name, text, keeps, integers) \
  case ElementFunction::name:          \
    return keeps;
    TULLE_ELEMENT_FUNCTIONS(X)
#undef X
  }
  return false;
}

bool is_elementary(ElementFunction function) {
  if (function == ElementFunction::Sqrt) return false;  // one instruction
  switch (function) {
#define X(name, text, keeps, integers) \
  case ElementFunction::name:          \
    return !(integers);
    TULLE_ELEMENT_FUNCTIONS(X)
#undef X
  }
  return false;
}

std::string_view text_of(BinaryOp op) {
  constexpr std::string_view names[] = {"+", "-", "*", "/", "max", "min", "within"};
  return names[static_cast<size_t>(op)];
}

std::string_view text_of(Reduction op) {
  switch (op) {
#define X(name, text, same_type) \
  case Reduction::name:          \
    return text;
    TULLE_REDUCTIONS(X)
#undef X
  }
  return "?";
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

Expr Choose::make(Expr condition, Expr yes, Expr no, std::optional<DType> type) {
  TULLE_CHECK(condition && yes && no);
  const DType result = type.value_or(promote_types(yes.type(), no.type()));
  return std::make_shared<const Choose>(result, std::move(condition), std::move(yes),
                                        std::move(no));
}

Expr IndexValue::make(std::string index, bool is_extent) {
  return std::make_shared<const IndexValue>(std::move(index), is_extent);
}

Expr Softmax::make(std::string index, Expr body, bool is_log) {
  TULLE_CHECK(body && !index.empty());
  const DType type = as_float(body.type());
  return std::make_shared<const Softmax>(type, std::move(index), std::move(body), is_log);
}

Expr Reduce::make(std::vector<std::string> indices, Expr body) {
  const DType type = body.type();
  return make(Reduction::Sum, std::move(indices), std::move(body), false, std::nullopt, type);
}

Expr Reduce::make(Reduction op, std::vector<std::string> indices, Expr body, bool stored,
                  std::optional<double> empty, DType type) {
  TULLE_CHECK(body && !indices.empty());
  Reduce node(type, op, std::move(indices), std::move(body));
  node.stored = stored;
  node.empty = empty;
  return std::make_shared<const Reduce>(std::move(node));
}

bool is_absent_over_nothing(const Reduce& reduce) {
  if (reduce.empty) return *reduce.empty == 0;
  return reduce.op == Reduction::Sum || (reduce.op == Reduction::Mean && reduce.stored);
}

std::vector<Expr> children(const Expr& expr) {
  if (const auto* unary = expr.as<Unary>()) return {unary->value};
  if (const auto* binary = expr.as<Binary>()) return {binary->a, binary->b};
  if (const auto* choose = expr.as<Choose>()) return {choose->condition, choose->yes, choose->no};
  if (const auto* softmax = expr.as<Softmax>()) return {softmax->body};
  if (const auto* reduce = expr.as<Reduce>()) return {reduce->body};
  return {};
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

Expr placed(const Expr& expr, SourcePlace place) {
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
  if (const auto* choose = expr.as<Choose>()) {
    Choose changed = *choose;
    changed.condition = change(choose->condition);
    changed.yes = change(choose->yes);
    changed.no = change(choose->no);
    const bool same = changed.condition.get() == choose->condition.get() &&
                      changed.yes.get() == choose->yes.get() &&
                      changed.no.get() == choose->no.get();
    return same ? expr : Expr(std::make_shared<const Choose>(std::move(changed)));
  }
  if (const auto* softmax = expr.as<Softmax>()) {
    Softmax changed = *softmax;
    changed.body = change(softmax->body);
    if (changed.body.get() == softmax->body.get()) return expr;
    return std::make_shared<const Softmax>(std::move(changed));
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
