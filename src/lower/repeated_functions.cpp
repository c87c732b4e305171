// Compares parts by the numbers of their operands.
#include "lower/repeated_functions.h"

#include <bit>
#include <cstdint>

namespace tulle::lower {

int RepeatedFunctions::number_of(const expr::Expr& part) const {
  const auto* unary = part.as<expr::Unary>();
  if (!unary || expr::is_of_entries(unary->function)) return -1;
  const auto found = numbers_.find(part.get());
  const bool repeats =
      found != numbers_.end() && occurrences_[static_cast<size_t>(found->second)] > 1;
  return repeats ? found->second : -1;
}

int RepeatedFunctions::number(const expr::Expr& expr) {
  std::vector<int64_t> key = {static_cast<int64_t>(expr->kind), static_cast<int64_t>(expr.type())};
  if (const auto* literal = expr.as<expr::Literal>()) {
    key.push_back(std::bit_cast<int64_t>(literal->value));
    key.push_back(literal->absent ? 1 : 0);
  } else if (const auto* access = expr.as<expr::Access>()) {
    key.push_back(access->id);
  } else if (const auto* unary = expr.as<expr::Unary>()) {
    key.push_back(static_cast<int64_t>(unary->function));
  } else if (const auto* binary = expr.as<expr::Binary>()) {
    key.push_back(static_cast<int64_t>(binary->op));
  } else if (const auto* index = expr.as<expr::IndexValue>()) {
    key.push_back(names_.emplace(index->index, static_cast<int>(names_.size())).first->second);
    key.push_back(index->is_extent ? 1 : 0);
  }
  for (const expr::Expr& child : expr::children(expr)) key.push_back(number(child));
  const int fresh = static_cast<int>(occurrences_.size());
  const int number = known_.emplace(std::move(key), fresh).first->second;
  if (number == fresh) occurrences_.push_back(0);
  ++occurrences_[static_cast<size_t>(number)];
  numbers_[expr.get()] = number;
  return number;
}

}  // namespace tulle::lower
