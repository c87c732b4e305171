// The definition of each reduction.
#include "expr/reduce_terms.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "support/check.h"

namespace tulle::expr {

namespace {

Scalar number(DType type, double value) {
  return is_float(type) ? make_real(type, value) : make_integer(type, static_cast<int64_t>(value));
}

// The lowest or the highest value of a type.
Scalar extreme(DType type, bool highest) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  switch (type) {
    case DType::Bool:
      return make_integer(type, highest ? 1 : 0);
    case DType::Int32:
      return make_integer(type, highest ? INT32_MAX : INT32_MIN);
    case DType::Int64:
      return make_integer(type, highest ? INT64_MAX : INT64_MIN);
    default:
      return make_real(type, highest ? infinity : -infinity);
  }
}

Scalar over_nothing(const Reduce& reduce) {
  if (is_absent_over_nothing(reduce)) return absent(reduce.type);
  if (reduce.empty) return number(reduce.type, *reduce.empty);
  switch (reduce.op) {
    case Reduction::Sum:
      return absent(reduce.type);
    case Reduction::Prod:
      return number(reduce.type, 1);
    case Reduction::Max:
    case Reduction::LogSumExp:
      return extreme(reduce.type, false);
    case Reduction::Min:
      return extreme(reduce.type, true);
    case Reduction::Mean:
      return make_real(reduce.type, std::numeric_limits<double>::quiet_NaN());
    case Reduction::ArgMax:
    case Reduction::ArgMin:
      return make_integer(reduce.type, -1);
    case Reduction::ExpSum:
      break;
  }
  internal_error("unknown reduction");
}

Scalar fold(BinaryOp op, DType type, const std::vector<ReducedTerm>& terms) {
  Scalar total = convert(terms.front().value, type);
  for (size_t at = 1; at < terms.size(); ++at)
    total = apply(op, total, convert(terms[at].value, type));
  return total;
}

// The first coordinate of the extreme or of a NaN.
int64_t place_of_extreme(bool highest, const std::vector<ReducedTerm>& terms) {
  const ReducedTerm* best = &terms.front();
  for (const ReducedTerm& term : terms) {
    const Scalar &old = best->value, &value = term.value;
    if (is_float(value.type) && std::isnan(old.real)) break;
    const bool better =
        is_float(value.type)
            ? std::isnan(value.real) || (highest ? value.real > old.real : value.real < old.real)
            : (highest ? value.integer > old.integer : value.integer < old.integer);
    if (better) best = &term;
  }
  return best->coordinate;
}

double log_sum_exp(DType type, const std::vector<ReducedTerm>& terms) {
  const double top = fold(BinaryOp::Max, type, terms).real;
  if (std::isinf(top)) return top;
  double total = 0;
  for (const ReducedTerm& term : terms) total += std::exp(convert(term.value, type).real - top);
  return top + std::log(total);
}

}  // namespace

Scalar reduce_terms(const Reduce& reduce, const std::vector<ReducedTerm>& all) {
  std::vector<ReducedTerm> terms = all;
  if (reduce.stored) {
    std::erase_if(terms, [](const ReducedTerm& term) { return !term.value.present; });
  }
  if (terms.empty()) return over_nothing(reduce);
  const DType type = reduce.type;
  Scalar result;
  switch (reduce.op) {
    case Reduction::Sum:
      return fold(BinaryOp::Add, type, terms);
    case Reduction::Prod:
      result = fold(BinaryOp::Mul, type, terms);
      break;
    case Reduction::Max:
      result = fold(BinaryOp::Max, type, terms);
      break;
    case Reduction::Min:
      result = fold(BinaryOp::Min, type, terms);
      break;
    case Reduction::Mean:
      result = make_real(type,
                         fold(BinaryOp::Add, type, terms).real / static_cast<double>(terms.size()));
      break;
    case Reduction::LogSumExp:
      result = make_real(type, log_sum_exp(type, terms));
      break;
    case Reduction::ArgMax:
    case Reduction::ArgMin:
      result = make_integer(type, place_of_extreme(reduce.op == Reduction::ArgMax, terms));
      break;
    case Reduction::ExpSum:
      internal_error("only plans have an expsum");
  }
  result.present = true;
  return result;
}

}  // namespace tulle::expr
