// Draws data and resolves programs.
#include "differential/prepared.h"

#include <algorithm>
#include <numeric>

#include "composite/composite.h"
#include "composite/operand_parts.h"
#include "driver/machine.h"
#include "driver/variant_table.h"
#include "lower/storage.h"
#include "plan/rewrite/specialisable_indices.h"
#include "plan/rewrite/unique_indices.h"
#include "support/check.h"

namespace tulle::differential {

namespace {

expr::ResolvedProgram resolved_program(const Case& test,
                                       const std::map<std::string, expr::TensorType>& types) {
  const expr::ParsedProgram parsed = expr::parse_program(test.text);
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

// The data of an operand do not depend on the other operands.
unsigned seed_of(const Case& test, const Operand& operand) {
  return std::accumulate(
      operand.name.begin(), operand.name.end(), test.seed * 7919,
      [](unsigned seed, char c) { return seed * 31 + static_cast<unsigned>(c); });
}

std::vector<expr::StoredTensor> drawn(const Case& test, const Operand& operand) {
  const unsigned seed = seed_of(test, operand);
  if (is_composite(operand)) return draw_parts(operand, seed);
  return {draw_stored(operand, seed)};
}

}  // namespace

namespace {

// Limits with which rules cut the rows of small operands and use narrow panels.
GpuLimits gpu_limits_of(const Case& test) {
  return {.many_entries = test.small_chunks ? 20 : plan::Machine().many_entries,
          .last_cache = test.small_chunks ? 1 << 12 : 1 << 25,
          .multiprocessors = test.multiprocessors,
          .threads = test.threads};
}

}  // namespace

// Limits with which small operands are cut and a few threads fill several blocks.
CompileLimits limits_of(const Case& test) {
  CompileLimits limits;
  limits.light_code = test.light;
  if (test.small_chunks) limits.chunks.work_per_chunk = 1;
  if (test.one_body) limits.bodies = {0, 0};
  limits.chunks.threads_per_block = 3;
  limits.chunks.most_slots = 4;
  if (test.gpu && test.multiprocessors > 0) limits.gpu = gpu_limits_of(test);
  return limits;
}

Prepared::Prepared(const Case& test) {
  for (const Operand& operand : test.operands) {
    const int rank = static_cast<int>(operand.sizes.size());
    given.push_back({operand.name,
                     operand.format,
                     operand.type,
                     operand.index_type,
                     rank,
                     {},
                     operand.longest_row});
    stored.push_back(drawn(test, operand));
    spelled[operand.name] = spell_out_parts(stored.back());
  }
  const schedule::Decompositions taken = schedule::take_decompositions(test.schedule);
  const std::vector<TensorSpec> apart = decomposed_specs(given, taken.steps);
  for (size_t o = 0; o < given.size(); ++o) {
    Operand operand = test.operands[o];
    operand.format = apart[o].format;
    // The padding of the whole operand is stored as entries of its parts.
    const auto parts =
        operand.format == given[o].format ? stored[o] : parts_of(spelled.at(operand.name), operand);
    operands.insert(operands.end(), parts.begin(), parts.end());
  }
  const OperandParts parts(apart);
  specs = parts.specs();
  resolved = resolved_program(test, parts.types());
  program = plan::decompose(plan::with_unique_indices(resolved), parts.composites());
  for (const schedule::Decomposition& step : taken.steps) {
    if (program.merged.contains(step.operand)) user_error("no sum over parts of ", step.operand);
  }

  request.plan.program = &program;
  request.limits = limits_of(test);
  request.plan.machine = describe_machine(test.features, test.threads);
  if (test.gpu) {
    request.plan.machine.backend = Backend::Gpu;
    request.plan.machine.vector_bytes = 16;
    const GpuLimits limits = gpu_limits_of(test);
    request.plan.machine.many_entries = limits.many_entries;
    request.plan.machine.last_cache = limits.last_cache;
    request.plan.machine.multiprocessors = test.multiprocessors;
    request.plan.machine.deterministic = test.deterministic;
    request.target = codegen::gpu_target("sm_90");
    request.target.light = test.light;
  }
  request.schedule = taken.rest;
  request.verify_passes = true;
  scalars[lower::kThreads] = test.threads;
  for (size_t o = 0; o < specs.size(); ++o) {
    const std::string& name = specs[o].name;
    const Pattern& pattern = *operands[o].pattern;
    request.operands.push_back(name);
    request.plan.statistics[name] = {pattern.sizes(), pattern.value_count(), 1.0,
                                     specs[o].longest_row};
    scalars[lower::count_name(name)] = pattern.value_count();
    if (lower::counts_stored(parts.formats()[o]))
      scalars[lower::stored_name(name)] = pattern.levels()[0].crd.length;
    auto add = [&](const loop::Buffer& buffer, const void* data, int64_t length) {
      if (!buffer) return;
      const auto* bytes = static_cast<const std::byte*>(data);
      arrays[buffer->name] = {buffer->element, {bytes, bytes + length * size_of(buffer->element)}};
    };
    const lower::TensorBuffers buffers =
        lower::buffers_of(name, {specs[o].type, specs[o].index_type, parts.formats()[o]});
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
      const bool is_small = extent <= kLargestSpecialised;
      if (is_small && std::find(special.begin(), special.end(), index) != special.end())
        request.plan.known_extents[index] = extent;
    }
  }
}

bool can_prepare(const Case& test) {
  try {
    const Prepared ready(test);
    return true;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace tulle::differential
