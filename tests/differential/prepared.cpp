// Drawing data and resolving programs.
#include "differential/prepared.h"

#include <algorithm>
#include <numeric>

#include "lower/storage.h"
#include "machine.h"
#include "plan/unique_indices.h"

namespace tulle::differential {

namespace {

expr::ResolvedProgram resolved_program(const Case& test,
                                       const std::map<std::string, expr::TensorType>& types) {
  const expr::Program parsed = expr::parse_program(test.text);
  expr::ResolveOptions resolving;
  for (const auto& [name, format] : test.out_formats) {
    for (const expr::Statement& statement : parsed.statements) {
      if (statement.tensor != name) continue;
      const int rank = static_cast<int>(statement.indices.size());
      resolving.out_formats.emplace(name, Format::parse(format, rank));
    }
  }
  return expr::resolve(parsed, types, resolving);
}

// An operand has the same data whatever others there are.
unsigned seed_of(const Case& test, const Operand& operand) {
  return std::accumulate(
      operand.name.begin(), operand.name.end(), test.seed * 7919,
      [](unsigned seed, char c) { return seed * 31 + static_cast<unsigned>(c); });
}

}  // namespace

Prepared::Prepared(const Case& test) {
  std::map<std::string, expr::TensorType> types;
  for (const Operand& operand : test.operands) {
    const int rank = static_cast<int>(operand.sizes.size());
    operands.push_back(draw_stored(operand, seed_of(test, operand)));
    spelled[operand.name] = expr::spell_out(operands.back());
    specs.push_back({operand.name, operand.format, operand.type, operand.index_type, rank, {}});
    types[operand.name] = {operand.type, operand.index_type, Format::parse(operand.format, rank)};
  }
  resolved = resolved_program(test, types);
  program = plan::with_unique_indices(resolved);

  request.program = &program;
  request.machine = describe_machine(test.features, test.threads);
  if (test.gpu) {
    request.machine.kind = plan::Machine::Kind::Gpu;
    request.target = codegen::gpu_target("sm_90");
  }
  request.schedule = test.schedule;
  request.verify_passes = true;
  scalars[lower::kThreads] = test.threads;
  for (size_t o = 0; o < specs.size(); ++o) {
    const std::string& name = specs[o].name;
    const Pattern& pattern = *operands[o].pattern;
    request.operands.push_back(name);
    request.statistics[name] = {pattern.sizes(), pattern.value_count()};
    scalars[lower::count_name(name)] = pattern.value_count();
    auto add = [&](const loop::Buffer& buffer, const void* data, int64_t length) {
      if (!buffer) return;
      const auto* bytes = static_cast<const std::byte*>(data);
      arrays[buffer->name] = {buffer->element, {bytes, bytes + length * size_of(buffer->element)}};
    };
    const lower::TensorBuffers buffers = lower::buffers_of(name, types.at(name));
    for (size_t l = 0; l < buffers.pos.size(); ++l) {
      const LevelStorage& level = pattern.levels()[l];
      add(buffers.pos[l], level.pos.data, level.pos.length);
      add(buffers.crd[l], level.crd.data, level.crd.length);
    }
    add(buffers.values, operands[o].values.data(), pattern.value_count());
  }
  const std::vector<std::string> special = plan::specialisable_indices(program.program);
  for (const auto& [index, uses] : program.extents) {
    for (size_t o = 0; o < specs.size(); ++o) {
      if (specs[o].name != uses.front().tensor) continue;
      const auto dimension = static_cast<size_t>(uses.front().dimension);
      const int64_t extent = operands[o].pattern->sizes()[dimension];
      scalars[lower::extent_name(index)] = extent;
      if (std::find(special.begin(), special.end(), index) != special.end())
        request.known_extents[index] = extent;
    }
  }
}

}  // namespace tulle::differential
