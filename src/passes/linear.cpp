// Builds and compares linear forms.
#include "passes/linear.h"

#include "support/check.h"

namespace tulle::passes {

using namespace loop;

namespace {

// Wraps around like generated code.
int64_t multiply_add(int64_t a, int64_t b, int64_t c) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b) +
                              static_cast<uint64_t>(c));
}

Linear linear_product(const Expr& product, const Linear& a, const Linear& b) {
  Linear result;
  if (b.terms.empty()) {
    result.add(a, b.constant);
  } else if (a.terms.empty()) {
    result.add(b, a.constant);
  } else {
    result.terms.emplace_back(product, 1);
  }
  return result;
}

}  // namespace

void Linear::add(const Linear& other, int64_t times) {
  constant = multiply_add(other.constant, times, constant);
  for (const auto& [term, coefficient] : other.terms) {
    auto mine = terms.begin();
    while (mine != terms.end() && !same(mine->first, term)) ++mine;
    if (mine == terms.end()) mine = terms.insert(mine, {term, 0});
    mine->second = multiply_add(coefficient, times, mine->second);
    if (mine->second == 0) terms.erase(mine);
  }
}

int64_t Linear::coefficient(const std::string& name) const {
  for (const auto& [term, coefficient] : terms) {
    if (const auto* var = term.as<Var>(); var && var->name == name) return coefficient;
  }
  return 0;
}

Linear linear_form(const Expr& index) {
  TULLE_CHECK(index.type() == kIndex, "the linear form of a ", to_string(index.type()));
  Linear result;
  if (const auto* integer = index.as<IntConst>()) {
    result.constant = integer->value;
    return result;
  }
  const auto* binary = index.as<Binary>();
  if (binary && binary->op == BinaryOp::Mul) {
    return linear_product(index, linear_form(binary->a), linear_form(binary->b));
  }
  if (binary && (binary->op == BinaryOp::Add || binary->op == BinaryOp::Sub)) {
    result.add(linear_form(binary->a), 1);
    result.add(linear_form(binary->b), binary->op == BinaryOp::Add ? 1 : -1);
    return result;
  }
  result.terms.emplace_back(index, 1);
  return result;
}

std::optional<int64_t> constant_difference(const Expr& a, const Expr& b) {
  Linear difference = linear_form(a);
  difference.add(linear_form(b), -1);
  if (!difference.terms.empty()) return std::nullopt;
  return difference.constant;
}

}  // namespace tulle::passes
