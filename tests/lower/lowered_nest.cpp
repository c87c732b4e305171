// Stores operands, interprets programs and compares results.
#include "lower/lowered_nest.h"

#include <algorithm>
#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "expr/storage.h"
#include "loop/print.h"
#include "lower/lower.h"
#include "lower/programs/free_temporaries.h"
#include "lower/storage.h"
#include "nest/parse.h"
#include "support/check.h"
#include "support/mutant.h"
#include "tulle/error.h"

namespace tulle::lower {

using expr::ReferenceTensor;
using expr::StoredTensor;

ReferenceTensor some_tensor(std::vector<int64_t> sizes, double share, unsigned seed) {
  ReferenceTensor tensor;
  tensor.type = DType::Float64;
  tensor.sizes = std::move(sizes);
  std::mt19937 random(seed);
  for (int64_t at = 0; at < tensor.count(); ++at) {
    const bool is_stored = static_cast<double>(random() % 1000) < share * 1000;
    tensor.stored.push_back(is_stored);
    tensor.floats.push_back(is_stored ? static_cast<double>(1 + random() % 9) : 0);
  }
  return tensor;
}

Options many_chunks(Backend backend) {
  return {backend, {.work_per_chunk = 1, .threads_per_block = 3, .most_slots = 4}};
}

LoweredNest::LoweredNest(std::string_view text, const Options& options, bool shares_result)
    : nest_(nest::parse_nest(text)) {
  for (const nest::Assign* assign : nest::assigns(nest_.root)) {
    if (nest_.tensor(assign->tensor).role != nest::Tensor::Role::Result) continue;
    result_ = assign->tensor;
    result_indices_ = assign->indices;
  }
  program_.name = "program";
  add_parameters();
  lower_nest(nest_, options, program_, shares_result);
  const nest::Tensor& result = nest_.tensor(result_);
  const TensorBuffers buffers = buffers_of(result_, result.type);
  for (size_t l = 0; l < buffers.pos.size() && result.shares_pattern_of.empty(); ++l) {
    if (buffers.pos[l]) program_.results.push_back(buffers.pos[l]);
    if (buffers.crd[l]) program_.results.push_back(buffers.crd[l]);
  }
  program_.results.push_back(buffers.values);
  free_temporaries(program_);
}

std::string LoweredNest::text() const { return loop::to_string(program_); }

void LoweredNest::add_parameters() {
  program_.scalars.push_back({kThreads, loop::kIndex});
  for (const auto& [name, variable] : nest_.variables) {
    if (variable.origin == nest::Variable::Origin::Source)
      program_.scalars.push_back({extent_name(name), loop::kIndex});
  }
  for (const auto& [name, tensor] : nest_.tensors) {
    if (tensor.role != nest::Tensor::Role::Operand) continue;
    const TensorBuffers buffers = buffers_of(name, tensor.type);
    for (size_t l = 0; l < buffers.pos.size(); ++l) {
      if (buffers.pos[l]) program_.buffers.push_back({buffers.pos[l], false});
      if (buffers.crd[l]) program_.buffers.push_back({buffers.crd[l], false});
    }
    program_.buffers.push_back({buffers.values, false});
    program_.scalars.push_back({count_name(name), loop::kIndex});
    if (counts_stored(tensor.type.format))
      program_.scalars.push_back({stored_name(name), loop::kIndex});
  }
}

loop::Scalars LoweredNest::scalars_of(const Tensors& operands) const {
  loop::Scalars scalars;
  for (const nest::Assign* assign : nest::assigns(nest_.root)) {
    for (const expr::Access* access : expr::accesses(assign->value)) {
      const auto operand = operands.find(access->tensor);
      if (operand == operands.end()) continue;
      for (size_t d = 0; d < access->indices.size(); ++d)
        scalars[extent_name(access->indices[d])] = operand->second.sizes[d];
    }
  }
  return scalars;
}

loop::Arrays LoweredNest::arrays_of(const Tensors& operands, loop::Scalars& scalars) const {
  loop::Arrays arrays;
  for (const auto& [name, operand] : operands) {
    const expr::TensorType& type = nest_.tensor(name).type;
    const StoredTensor stored = expr::store(operand, type.format, type.index_type);
    const auto add = [&](const loop::Buffer& buffer, const void* data, int64_t length) {
      const auto* bytes = static_cast<const std::byte*>(data);
      arrays[buffer->name] = {buffer->element, {bytes, bytes + length * size_of(buffer->element)}};
    };
    const TensorBuffers buffers = buffers_of(name, type);
    for (size_t l = 0; l < buffers.pos.size(); ++l) {
      const LevelStorage& level = stored.pattern->levels()[l];
      if (buffers.pos[l]) add(buffers.pos[l], level.pos.data, level.pos.length);
      if (buffers.crd[l]) add(buffers.crd[l], level.crd.data, level.crd.length);
    }
    add(buffers.values, stored.values.data(), stored.pattern->value_count());
    scalars[count_name(name)] = stored.pattern->value_count();
    if (counts_stored(type.format))
      scalars[stored_name(name)] = stored.pattern->levels()[0].crd.length;
  }
  return arrays;
}

ReferenceTensor LoweredNest::run(const Tensors& operands, int64_t threads) const {
  loop::Scalars scalars = scalars_of(operands);
  scalars[kThreads] = threads;
  loop::Arrays arrays = arrays_of(operands, scalars);
  return collect(loop::interpret(program_, std::move(arrays), scalars), operands);
}

ReferenceTensor LoweredNest::collect(const loop::Arrays& outcome, const Tensors& operands) const {
  const nest::Tensor& result = nest_.tensor(result_);
  const expr::TensorType& type = result.type;
  const TensorBuffers buffers = buffers_of(result_, type);
  const auto view = [&](const loop::Buffer& buffer) -> ArrayView {
    if (!buffer) return {};
    const loop::Array& array = outcome.at(buffer->name);
    return {array.bytes.data(), array.size(), nullptr};
  };
  StoredTensor stored;
  stored.type = type.type;
  const loop::Array& values = outcome.at(buffers.values->name);
  stored.values = values.bytes;
  if (!result.shares_pattern_of.empty()) {
    const std::string& operand = result.shares_pattern_of;
    const expr::TensorType& shared = nest_.tensor(operand).type;
    stored.pattern = expr::store(operands.at(operand), shared.format, shared.index_type).pattern;
    return expr::spell_out(stored);
  }
  const loop::Scalars scalars = scalars_of(operands);
  std::vector<int64_t> sizes;
  for (const std::string& index : result_indices_)
    sizes.push_back(std::get<int64_t>(scalars.at(extent_name(index))));
  std::vector<LevelStorage> levels;
  for (size_t l = 0; l < buffers.pos.size(); ++l)
    levels.push_back({view(buffers.pos[l]), view(buffers.crd[l])});
  stored.pattern = std::make_shared<Pattern>(type.format, sizes, type.index_type, levels);
  validate(*stored.pattern, result_);
  if (values.size() != stored.pattern->value_count())
    internal_error(values.size(), " values for ", stored.pattern->value_count(), " slots");
  return expr::spell_out(stored);
}

ReferenceTensor LoweredNest::expected(std::string_view statement, const Tensors& operands) const {
  std::map<std::string, expr::TensorType> types;
  for (const auto& [name, operand] : operands) types[name] = nest_.tensor(name).type;
  const expr::TensorType& type = nest_.tensor(result_).type;
  expr::ResolveOptions options;
  options.out_formats = {{result_, type.format}};
  const auto program = expr::resolve(expr::parse_program(statement), types, options);
  return expr::evaluate(program, operands).at(result_);
}

namespace {

// Sums of whole numbers are exact, logarithms are not.
bool agree(double wanted, double found) {
  if (wanted == found || (std::isnan(wanted) && std::isnan(found))) return true;
  return std::abs(wanted - found) <= 1e-9 * std::abs(wanted);
}

// The differences between a result and its expected value. Compares the pattern if the result has
// its own.
std::string difference(const ReferenceTensor& wanted, const ReferenceTensor& found,
                       bool has_pattern) {
  for (int64_t at = 0; at < wanted.count(); ++at) {
    const auto n = static_cast<size_t>(at);
    if (!agree(wanted.floats[n], found.floats[n]))
      return concat("element ", at, " is ", found.floats[n], " and not ", wanted.floats[n]);
    if (has_pattern && wanted.stored[n] != found.stored[n])
      return concat("element ", at, wanted.stored[n] ? " is not stored" : " is stored");
  }
  return {};
}

}  // namespace

std::string wrong_with(const Example& example) {
  try {
    const LoweredNest nest(example.nest, example.options);
    const nest::Nest parsed = nest::parse_nest(example.nest);
    const bool has_pattern =
        std::any_of(parsed.tensors.begin(), parsed.tensors.end(), [](const auto& entry) {
          const Format& format = entry.second.type.format;
          return entry.second.role == nest::Tensor::Role::Result && !format.is_dense() &&
                 !format.has_blocks();
        });
    for (unsigned seed = 0; seed < 6; ++seed) {
      Tensors operands;
      unsigned number = 100 * seed;
      for (const auto& [name, sizes] : example.sizes) {
        const bool is_dense = parsed.tensor(name).type.format.is_dense();
        const double share = is_dense ? 1 : seed == 5 ? 0 : example.share;
        operands[name] = some_tensor(sizes, share, number++);
      }
      const std::string found = difference(nest.expected(example.statement, operands),
                                           nest.run(operands, seed % 2 == 0 ? 4 : 3), has_pattern);
      if (!found.empty()) return concat("seed ", seed, ": ", found);
    }
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

void expect_right(const Example& example, const std::vector<std::string>& mutants) {
  EXPECT_EQ(wrong_with(example), "") << LoweredNest(example.nest, example.options).text();
  for (const std::string& mutant : mutants) {
    set_mutant(mutant);
    const std::string found = wrong_with(example);
    set_mutant("");
    EXPECT_NE(found, "") << mutant << " is not found";
  }
}

void expect_parts(const std::string& text, const std::vector<std::string>& parts) {
  size_t from = 0;
  for (const std::string& part : parts) {
    const size_t at = text.find(part, from);
    ASSERT_NE(at, std::string::npos) << part << "\nin\n" << text;
    from = at + part.size();
  }
}

}  // namespace tulle::lower
