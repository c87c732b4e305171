// Short forms of the constructors of expressions.
#pragma once

#include <string>
#include <vector>

#include "expr/expr.h"

namespace tulle::grad {

expr::Expr number(double value);
expr::Expr access(const std::string& tensor, const std::vector<std::string>& indices);
expr::Expr apply(expr::ElementFunction function, const expr::Expr& argument);
expr::Expr operator+(const expr::Expr& a, const expr::Expr& b);
expr::Expr operator-(const expr::Expr& a, const expr::Expr& b);
expr::Expr operator*(const expr::Expr& a, const expr::Expr& b);
expr::Expr operator/(const expr::Expr& a, const expr::Expr& b);
expr::Expr negated(const expr::Expr& a);
expr::Expr smaller(const expr::Expr& a, const expr::Expr& b);
expr::Expr larger(const expr::Expr& a, const expr::Expr& b);
expr::Expr within(const expr::Expr& mask, const expr::Expr& value);
expr::Expr where(const expr::Expr& condition, const expr::Expr& yes, const expr::Expr& no);
// The sum over the indices, or the value itself if there are none.
expr::Expr sum(const std::vector<std::string>& indices, const expr::Expr& value);
expr::Expr extent(const std::string& index);

// Lists of indices.
bool contains(const std::vector<std::string>& indices, const std::string& index);
bool contains_all(const std::vector<std::string>& indices, const std::vector<std::string>& wanted);
std::vector<std::string> minus(std::vector<std::string> a, const std::vector<std::string>& b);
std::vector<std::string> both(std::vector<std::string> a, const std::vector<std::string>& b);

}  // namespace tulle::grad
