// The functions that an expression applies several times to the same value.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "expr/expr.h"

namespace tulle::lower {

// Numbers the parts of an expression, so that equal parts have equal numbers. Takes time in
// proportion to the size of the expression.
class RepeatedFunctions {
 public:
  explicit RepeatedFunctions(const expr::Expr& expr) { number(expr); }

  // The number of an element function that occurs several times, -1 for any other part.
  int number_of(const expr::Expr& part) const;

 private:
  int number(const expr::Expr& expr);

  std::unordered_map<const expr::ExprNode*, int> numbers_;
  std::map<std::vector<int64_t>, int> known_;  // by kind, type, operation and operands
  std::map<std::string, int> names_;
  std::vector<int> occurrences_;  // by number
};

}  // namespace tulle::lower
