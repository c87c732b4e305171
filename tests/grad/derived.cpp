// Deriving, evaluating and differencing.
#include "grad/derived.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "grad/derivative.h"
#include "support/check.h"

namespace tulle::grad {

namespace {

using expr::ReferenceTensor;
using expr::ResolvedProgram;
using Tensors = std::map<std::string, ReferenceTensor>;
using Types = std::map<std::string, expr::TensorType>;

constexpr double kStep = 1e-5;

ResolvedProgram resolved(const Example& example) {
  Types types;
  for (const Operand& operand : example.operands) {
    const int rank = static_cast<int>(operand.sizes.size());
    types[operand.name] = {DType::Float64, DType::Int32, Format::parse(operand.format, rank)};
  }
  expr::ResolveOptions options;
  for (const std::string& result : example.dense) {
    options.out_formats.emplace(result, Format::parse("dense", 1));
  }
  return expr::resolve(expr::parse_program(example.program), types, options);
}

// Random values and, for sparse formats, random entries.
class Draw {
 public:
  explicit Draw(unsigned seed) : random_(seed) {}

  ReferenceTensor operand(const Operand& wanted, double low, double high) {
    ReferenceTensor tensor{.type = DType::Float64, .sizes = wanted.sizes};
    const bool is_dense =
        Format::parse(wanted.format, static_cast<int>(wanted.sizes.size())).is_dense();
    for (int64_t at = 0; at < tensor.count(); ++at) {
      const bool is_stored = is_dense || between(0, 1) < 0.5;
      tensor.stored.push_back(is_stored);
      tensor.floats.push_back(is_stored ? between(low, high) : 0);
    }
    return tensor;
  }

  // Other values at the same entries.
  ReferenceTensor like(ReferenceTensor tensor) {
    for (size_t at = 0; at < tensor.floats.size(); ++at) {
      if (tensor.stored[at]) tensor.floats[at] = between(-1, 1);
    }
    return tensor;
  }

 private:
  double between(double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random_);
  }
  std::mt19937 random_;
};

Tensors operands_of(const Example& example, Draw& draw) {
  Tensors operands;
  for (const Operand& operand : example.operands) {
    operands[operand.name] = draw.operand(operand, example.low, example.high);
  }
  return operands;
}

std::vector<std::string> names_of(const Example& example) {
  std::vector<std::string> names;
  for (const Operand& operand : example.operands) names.push_back(operand.name);
  return names;
}

// A derived program, resolved for the operands that it names.
struct Derived {
  DerivativeStatements derivative;
  ResolvedProgram program;

  Derived(DerivativeStatements derived, const ResolvedProgram& of)
      : derivative(std::move(derived)) {
    Types types;
    for (const DerivativeOperand& operand : derivative.operands) {
      types[operand.name] = of.tensors.at(operand.of);
    }
    if (derivative.statements.empty()) return;  // all derivatives are 0 or operands
    const std::string text = expr::to_string(expr::ParsedProgram{derivative.statements});
    program = expr::resolve(expr::parse_program(text, expr::Writer::Compiler), types);
  }

  // Evaluates it. `given` has the gradients or tangents by the tensor that they are of.
  Tensors run(const Tensors& operands, const Tensors& results, const Tensors& given) const {
    Tensors all;
    for (const DerivativeOperand& operand : derivative.operands) {
      const bool is_given =
          operand.role == DerivativeRole::Gradient || operand.role == DerivativeRole::Tangent;
      const Tensors& source = is_given                                 ? given
                              : operand.role == DerivativeRole::Result ? results
                                                                       : operands;
      all[operand.name] = source.at(operand.of);
    }
    const Tensors found = expr::evaluate(program, all);
    Tensors by_source;
    for (const DerivativeResult& result : derivative.results) {
      if (!result.name.empty()) {
        // A gradient that needs no computation is an operand.
        const auto computed = found.find(result.name);
        by_source[result.of] = computed == found.end() ? all.at(result.name) : computed->second;
      }
    }
    return by_source;
  }
};

Derived gradients(const ResolvedProgram& program, const std::vector<std::string>& wanted) {
  const GradientRequest request{wanted, {program.results.begin(), program.results.end()}, {}};
  return Derived(gradient(program, request), program);
}

double relative(double found, double expected) {
  return std::abs(found - expected) / std::max(1.0, std::abs(expected));
}

Tensors results_of(const ResolvedProgram& program, const Tensors& operands) {
  Tensors found = expr::evaluate(program, operands);
  std::erase_if(found, [&](const auto& one) {
    return std::find(program.results.begin(), program.results.end(), one.first) ==
           program.results.end();
  });
  return found;
}

// The sum over all results of their products with the weights.
double weighted_sum(const Tensors& results, const Tensors& weights) {
  double total = 0;
  for (const auto& [name, weight] : weights) {
    const std::vector<double>& values = results.at(name).floats;
    for (size_t at = 0; at < values.size(); ++at) total += values[at] * weight.floats[at];
  }
  return total;
}

Tensors weights_for(const Tensors& results, Draw& draw) {
  Tensors weights;
  for (const auto& [name, result] : results) {
    if (is_float(result.type)) weights[name] = draw.like(result);
  }
  return weights;
}

// The error of the gradients of the weighted sum of the results of a program.
double error_of(const ResolvedProgram& program, const Tensors& operands,
                const std::vector<std::string>& wanted, Draw& draw) {
  const Tensors results = results_of(program, operands);
  const Tensors weights = weights_for(results, draw);
  const Tensors found = gradients(program, wanted).run(operands, results, weights);
  double worst = 0;
  for (const std::string& name : wanted) {
    for (size_t at = 0; at < operands.at(name).floats.size(); ++at) {
      if (!operands.at(name).stored[at]) continue;
      Tensors moved = operands;
      moved[name].floats[at] += kStep;
      const double above = weighted_sum(expr::evaluate(program, moved), weights);
      moved[name].floats[at] -= 2 * kStep;
      const double below = weighted_sum(expr::evaluate(program, moved), weights);
      const auto gradient = found.find(name);
      const double derived = gradient == found.end() ? 0 : gradient->second.floats[at];
      worst = std::max(worst, relative(derived, (above - below) / (2 * kStep)));
    }
  }
  return worst;
}

}  // namespace

double gradient_error(const Example& example, unsigned seed) {
  Draw draw(seed);
  const Tensors operands = operands_of(example, draw);
  return error_of(resolved(example), operands, names_of(example), draw);
}

double second_gradient_error(const Example& example, unsigned seed) {
  Draw draw(seed);
  Tensors operands = operands_of(example, draw);
  const ResolvedProgram program = resolved(example);
  const Tensors results = results_of(program, operands);
  const Derived first = gradients(program, names_of(example));
  // The operands of the first derivative vary independently of each other.
  Tensors all;
  std::vector<std::string> wanted;
  for (const DerivativeOperand& operand : first.derivative.operands) {
    const bool is_gradient = operand.role == DerivativeRole::Gradient;
    const Tensors& source = operand.role == DerivativeRole::Operand ? operands : results;
    all[operand.name] = is_gradient ? draw.like(source.at(operand.of)) : source.at(operand.of);
    // Where a saved result is an extremum of other operands, it does not vary by itself.
    if (operand.role != DerivativeRole::Result) wanted.push_back(operand.name);
  }
  return error_of(first.program, all, wanted, draw);
}

double tangent_error(const Example& example, unsigned seed) {
  Draw draw(seed);
  const Tensors operands = operands_of(example, draw);
  const ResolvedProgram program = resolved(example);
  const Tensors results = results_of(program, operands);
  Tensors tangents;
  std::set<std::string> moved;
  for (const auto& [name, operand] : operands) {
    tangents[name] = draw.like(operand);
    moved.insert(name);
  }
  const Tensors found = Derived(tangent(program, moved), program).run(operands, results, tangents);
  const auto at_distance = [&](double step) {
    Tensors there = operands;
    for (auto& [name, operand] : there) {
      for (size_t at = 0; at < operand.floats.size(); ++at) {
        operand.floats[at] += step * tangents.at(name).floats[at];
      }
    }
    return expr::evaluate(program, there);
  };
  const Tensors above = at_distance(kStep);
  const Tensors below = at_distance(-kStep);
  double worst = 0;
  for (const auto& [name, result] : results) {
    for (size_t at = 0; at < result.floats.size(); ++at) {
      const double expected = (above.at(name).floats[at] - below.at(name).floats[at]) / (2 * kStep);
      const auto derived = found.find(name);
      worst = std::max(worst,
                       relative(derived == found.end() ? 0 : derived->second.floats[at], expected));
    }
  }
  return worst;
}

std::string gradient_text(const Example& example, const std::vector<std::string>& wanted) {
  const Derived derived = gradients(resolved(example), wanted);
  return expr::to_string(expr::ParsedProgram{derived.derivative.statements});
}

std::string tangent_text(const Example& example) {
  const std::vector<std::string> names = names_of(example);
  const DerivativeStatements derived = tangent(resolved(example), {names.begin(), names.end()});
  return expr::to_string(expr::ParsedProgram{derived.statements});
}

std::string gradient_entries(const Example& example, const std::string& wanted,
                             const Tensors& operands) {
  const ResolvedProgram program = resolved(example);
  const Tensors results = results_of(program, operands);
  Tensors ones = results;
  for (auto& [name, one] : ones) {
    for (size_t at = 0; at < one.floats.size(); ++at) one.floats[at] = one.stored[at] ? 1 : 0;
  }
  const ReferenceTensor found =
      gradients(program, {wanted}).run(operands, results, ones).at(wanted);
  std::string text;
  for (size_t at = 0; at < found.floats.size(); ++at) {
    text += concat(at ? " " : "", found.stored[at] ? concat(found.floats[at]) : "_");
  }
  return text;
}

}  // namespace tulle::grad
