// Estimates the entries of results by the densities of operands.
#include "plan/order/estimate_entries.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace tulle::plan {

using expr::Access;
using expr::Binary;
using expr::BinaryOp;
using expr::Choose;
using expr::Expr;
using expr::Reduce;
using expr::Softmax;
using expr::Unary;

namespace {

using Indices = std::set<std::string>;

// The share of coordinates at which an expression has a value, and the indices of the sparse
// tensors that decide it.
struct Density {
  double share = 1;
  Indices indices = {};
};

class DensityEstimate {
 public:
  DensityEstimate(const std::map<std::string, expr::TensorType>& tensors, Estimates& estimates)
      : tensors_(tensors), estimates_(estimates) {}

  Density of(const Expr& expr) {
    if (const auto* access = expr.as<Access>()) return of_access(*access);
    if (const auto* unary = expr.as<Unary>()) {
      return expr::keeps_zero(unary->function) ? of(unary->value) : Density{};
    }
    if (const auto* binary = expr.as<Binary>()) {
      if (binary->op == BinaryOp::Within || binary->op == BinaryOp::Div) return of(binary->a);
      return binary->op == BinaryOp::Mul ? both(of(binary->a), of(binary->b))
                                         : either(of(binary->a), of(binary->b));
    }
    if (const auto* choose = expr.as<Choose>()) return either(of(choose->yes), of(choose->no));
    if (const auto* softmax = expr.as<Softmax>()) return of(softmax->body);
    if (const auto* reduce = expr.as<Reduce>()) return of_reduction(*reduce);
    return {};
  }

  double coordinates(const std::vector<std::string>& indices) const {
    double product = 1;
    for (const std::string& index : Indices(indices.begin(), indices.end())) {
      product *= estimates_.extent(index);
    }
    return product;
  }

 private:
  Density of_access(const Access& access) {
    if (tensors_.at(access.tensor).format.is_dense()) return {};
    const double entries = estimates_.count(access.tensor, access.indices);
    return {std::min(1.0, entries / coordinates(access.indices)),
            Indices(access.indices.begin(), access.indices.end())};
  }

  // The reduction has a value if one of its terms has.
  Density of_reduction(const Reduce& reduce) {
    if (!expr::is_absent_over_nothing(reduce)) return {};
    Density body = of(reduce.body);
    double terms = 1;
    for (const std::string& index : reduce.indices) {
      if (body.indices.erase(index) != 0) terms *= estimates_.extent(index);
    }
    if (body.share < 1) body.share = -std::expm1(terms * std::log1p(-body.share));
    return body;
  }

  static bool includes(const Indices& all, const Indices& some) {
    return std::includes(all.begin(), all.end(), some.begin(), some.end());
  }

  static Density both(const Density& a, const Density& b) {
    Density found = a;
    found.indices.insert(b.indices.begin(), b.indices.end());
    const bool overlaps = includes(a.indices, b.indices) || includes(b.indices, a.indices);
    found.share = overlaps ? std::min(a.share, b.share) : a.share * b.share;
    return found;
  }

  static Density either(const Density& a, const Density& b) {
    Density found = a;
    found.indices.insert(b.indices.begin(), b.indices.end());
    found.share =
        a.indices == b.indices ? std::max(a.share, b.share) : std::min(1.0, a.share + b.share);
    return found;
  }

  const std::map<std::string, expr::TensorType>& tensors_;
  Estimates& estimates_;
};

}  // namespace

double estimate_entries(const expr::Statement& statement,
                        const std::map<std::string, expr::TensorType>& tensors,
                        Estimates& estimates) {
  DensityEstimate densities(tensors, estimates);
  const double share = densities.of(statement.value).share;
  return std::max(1.0, share * densities.coordinates(statement.indices));
}

}  // namespace tulle::plan
