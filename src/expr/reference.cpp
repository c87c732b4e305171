// The reference evaluator.
#include "expr/reference.h"

#include <cmath>

#include "expr/coordinates.h"
#include "expr/extents.h"
#include "expr/padding.h"
#include "expr/reduce_terms.h"
#include "expr/scalar.h"
#include "support/check.h"
#include "support/half.h"

namespace tulle::expr {

namespace {

using Coordinates = std::map<std::string, int64_t>;  // the coordinate of each index

class Evaluator {
 public:
  Evaluator(const ResolvedProgram& program, const std::map<std::string, ReferenceTensor>& operands)
      : program_(program),
        tensors_(operands),
        extents_(index_extents(program, sizes_of(operands))) {
    for (const std::string& name : program.operands) check_operand(name);
  }

  std::map<std::string, ReferenceTensor> run() {
    for (size_t n = 0; n < program_.statements.size(); ++n) {
      const Statement& statement = program_.statements[n];
      tensors_[statement.tensor] = evaluate(statement, extents_[n]);
    }
    std::map<std::string, ReferenceTensor> results;
    for (const std::string& name : program_.results) results[name] = tensors_.at(name);
    return results;
  }

 private:
  static Sizes sizes_of(const std::map<std::string, ReferenceTensor>& operands) {
    Sizes sizes;
    for (const auto& [name, tensor] : operands) sizes[name] = tensor.sizes;
    return sizes;
  }

  void check_operand(const std::string& name) const {
    const auto operand = tensors_.find(name);
    if (operand == tensors_.end()) user_error("The operand '", name, "' was not given.");
    const TensorType& expected = program_.tensors.at(name);
    const ReferenceTensor& tensor = operand->second;
    const auto count = static_cast<size_t>(tensor.count());
    const size_t values = is_float(tensor.type) ? tensor.floats.size() : tensor.integers.size();
    if (tensor.type != expected.type || values != count || tensor.stored.size() != count ||
        static_cast<int>(tensor.sizes.size()) != expected.format.rank()) {
      user_error("The operand '", name,
                 "' does not have the type, rank or number of values that the ",
                 "program was resolved for.");
    }
  }

  ReferenceTensor evaluate(const Statement& statement,
                           const std::map<std::string, int64_t>& extents) {
    ReferenceTensor result{.type = program_.tensors.at(statement.tensor).type};
    for (const std::string& index : statement.indices) result.sizes.push_back(extents.at(index));
    for_each_coordinate(result.sizes, [&](const std::vector<int64_t>& coordinates) {
      Coordinates at;
      for (size_t d = 0; d < coordinates.size(); ++d) at[statement.indices[d]] = coordinates[d];
      const Scalar value = evaluate(statement.value, at, extents);
      if (is_float(result.type)) {
        const bool narrows = is_half(result.type);
        result.floats.push_back(narrows ? round_to_half(result.type, value.real) : value.real);
      } else {
        result.integers.push_back(value.integer);
      }
      result.stored.push_back(value.present);
    });
    const Format& format = program_.tensors.at(statement.tensor).format;
    result.stored = with_padding(format, result.sizes, result.stored);
    return result;
  }

  Scalar evaluate(const Expr& expr, Coordinates& at,
                  const std::map<std::string, int64_t>& extents) {
    if (const auto* literal = expr.as<Literal>()) {
      return is_float(literal->type)
                 ? make_real(literal->type, literal->value)
                 : make_integer(literal->type, static_cast<int64_t>(literal->value));
    }
    if (const auto* access = expr.as<Access>()) return read(*access, at);
    if (const auto* unary = expr.as<Unary>()) return evaluate_unary(*unary, at, extents);
    if (const auto* binary = expr.as<Binary>()) {
      const bool masks = binary->op == BinaryOp::Within;
      const Scalar a = evaluate(binary->a, at, extents);
      return apply(binary->op, masks ? a : convert(a, binary->type),
                   convert(evaluate(binary->b, at, extents), binary->type));
    }
    if (const auto* choose = expr.as<Choose>()) return evaluate_choice(*choose, at, extents);
    if (const auto* value = expr.as<IndexValue>()) {
      return make_integer(value->type,
                          value->is_extent ? extents.at(value->index) : at.at(value->index));
    }
    if (const auto* softmax = expr.as<Softmax>()) return evaluate_softmax(*softmax, at, extents);
    const auto* reduce = expr.as<Reduce>();
    std::vector<ReducedTerm> terms;
    collect(*reduce, 0, at, extents, terms);
    Scalar total = reduce_terms(*reduce, terms);
    // A scalar always has a value, also without terms.
    if (free_indices(expr).empty()) total.present = true;
    return total;
  }

  Scalar evaluate_unary(const Unary& unary, Coordinates& at,
                        const std::map<std::string, int64_t>& extents) {
    const Scalar value = evaluate(unary.value, at, extents);
    if (unary.function != ElementFunction::Ones) {
      return apply(unary.function, convert(value, unary.type));
    }
    return value.present ? make_integer(unary.type, 1) : absent(unary.type);
  }

  // Absent if a value that the condition may choose is absent.
  Scalar evaluate_choice(const Choose& choose, Coordinates& at,
                         const std::map<std::string, int64_t>& extents) {
    const Scalar condition = evaluate(choose.condition, at, extents);
    const Scalar yes = convert(evaluate(choose.yes, at, extents), choose.type);
    const Scalar no = convert(evaluate(choose.no, at, extents), choose.type);
    if (!condition.present) return no;
    Scalar chosen = condition.real != 0 || condition.integer != 0 ? yes : no;
    chosen.present = yes.present || no.present;
    return chosen;
  }

  Scalar evaluate_softmax(const Softmax& softmax, Coordinates& at,
                          const std::map<std::string, int64_t>& extents) {
    const Scalar own = convert(evaluate(softmax.body, at, extents), softmax.type);
    if (!own.present) return own;
    const int64_t here = at.at(softmax.index);
    std::vector<double> values;
    for (int64_t coordinate = 0; coordinate < extents.at(softmax.index); ++coordinate) {
      at[softmax.index] = coordinate;
      const Scalar value = convert(evaluate(softmax.body, at, extents), softmax.type);
      if (value.present) values.push_back(value.real);
    }
    at[softmax.index] = here;
    double top = values.front();
    for (const double value : values) top = std::isnan(top) || top > value ? top : value;
    double total = 0;
    for (const double value : values) total += std::exp(value - top);
    const double shifted = own.real - top;
    return make_real(softmax.type,
                     softmax.is_log ? shifted - std::log(total) : std::exp(shifted) / total);
  }

  // Collects the values of the body with their coordinates, over the indices of the reduction from
  // number `from` on.
  void collect(const Reduce& reduce, size_t from, Coordinates& at,
               const std::map<std::string, int64_t>& extents, std::vector<ReducedTerm>& terms) {
    if (from == reduce.indices.size()) {
      terms.push_back({evaluate(reduce.body, at, extents), at.at(reduce.indices.back())});
      return;
    }
    const std::string& index = reduce.indices[from];
    for (int64_t coordinate = 0; coordinate < extents.at(index); ++coordinate) {
      at[index] = coordinate;
      collect(reduce, from + 1, at, extents, terms);
    }
    at.erase(index);
  }

  Scalar read(const Access& access, const Coordinates& at) const {
    const ReferenceTensor& tensor = tensors_.at(access.tensor);
    int64_t flat = 0;
    for (size_t d = 0; d < access.indices.size(); ++d) {
      flat = flat * tensor.sizes[d] + at.at(access.indices[d]);
    }
    const auto place = static_cast<size_t>(flat);
    const bool dense = program_.tensors.at(access.tensor).format.is_dense();
    if (!dense && !tensor.stored[place]) return absent(tensor.type);
    return is_float(tensor.type) ? make_real(tensor.type, tensor.floats[place])
                                 : make_integer(tensor.type, tensor.integers[place]);
  }

  const ResolvedProgram& program_;
  std::map<std::string, ReferenceTensor> tensors_;
  std::vector<std::map<std::string, int64_t>> extents_;  // for each statement
};

}  // namespace

int64_t ReferenceTensor::count() const { return coordinate_count(sizes); }

std::map<std::string, ReferenceTensor> evaluate(
    const ResolvedProgram& program, const std::map<std::string, ReferenceTensor>& operands) {
  return Evaluator(program, operands).run();
}

}  // namespace tulle::expr
