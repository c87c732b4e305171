// The reference evaluator.
#include "expr/reference.h"

#include "expr/coordinates.h"
#include "expr/extents.h"
#include "expr/padding.h"
#include "expr/scalar.h"
#include "support/check.h"

namespace tulle::expr {

namespace {

using Coordinates = std::map<std::string, int64_t>;  // of indices

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
    ReferenceTensor result{.type = statement.value.type()};
    for (const std::string& index : statement.indices) result.sizes.push_back(extents.at(index));
    for_each_coordinate(result.sizes, [&](const std::vector<int64_t>& coordinates) {
      Coordinates at;
      for (size_t d = 0; d < coordinates.size(); ++d) at[statement.indices[d]] = coordinates[d];
      const Scalar value = evaluate(statement.value, at, extents);
      if (is_float(result.type)) {
        result.floats.push_back(value.real);
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
    if (const auto* unary = expr.as<Unary>()) {
      return apply(unary->function, convert(evaluate(unary->value, at, extents), unary->type));
    }
    if (const auto* binary = expr.as<Binary>()) {
      return apply(binary->op, convert(evaluate(binary->a, at, extents), binary->type),
                   convert(evaluate(binary->b, at, extents), binary->type));
    }
    const auto* reduce = expr.as<Reduce>();
    Scalar total = sum(*reduce, 0, at, extents);
    // A scalar has a value whatever was added up.
    if (free_indices(expr).empty()) total.present = true;
    return total;
  }

  // Over the indices of the reduction from the given one on.
  Scalar sum(const Reduce& reduce, size_t from, Coordinates& at,
             const std::map<std::string, int64_t>& extents) {
    if (from == reduce.indices.size()) return evaluate(reduce.body, at, extents);
    const std::string& index = reduce.indices[from];
    Scalar total = absent(reduce.type);
    for (int64_t coordinate = 0; coordinate < extents.at(index); ++coordinate) {
      at[index] = coordinate;
      total = apply(BinaryOp::Add, total, sum(reduce, from + 1, at, extents));
    }
    at.erase(index);
    return total;
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
  std::vector<std::map<std::string, int64_t>> extents_;  // of each statement
};

}  // namespace

int64_t ReferenceTensor::count() const { return coordinate_count(sizes); }

std::map<std::string, ReferenceTensor> evaluate(
    const ResolvedProgram& program, const std::map<std::string, ReferenceTensor>& operands) {
  return Evaluator(program, operands).run();
}

}  // namespace tulle::expr
