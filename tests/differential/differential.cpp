// Differential testing of whole programs.
#include "differential/differential.h"

#include <cmath>
#include <deque>

#include "compile.h"
#include "loop/interpret.h"
#include "lower/lower.h"
#include "lower/storage.h"
#include "machine.h"
#include "plan/unique_indices.h"
#include "support/check.h"
#include "tulle/tulle.h"

namespace tulle::differential {

using expr::ReferenceTensor;

namespace {

// Result arrays in vectors of their own.
class VectorMemory final : public Memory {
 public:
  Block allocate(DType type, int64_t length, bool zeroed) override {
    // Poisoned, so that what is never written shows.
    storage_.emplace_back(static_cast<size_t>(length * size_of(type)) + 64,
                          static_cast<std::byte>(zeroed ? 0 : 0xa5));
    return {storage_.back().data(), nullptr};
  }

 private:
  std::deque<std::vector<std::byte>> storage_;
};

TensorView view_of(const expr::StoredTensor& stored) {
  TensorView view;
  view.sizes = stored.pattern->sizes();
  for (const LevelStorage& level : stored.pattern->levels()) {
    view.levels.push_back({{level.pos.data, level.pos.length}, {level.crd.data, level.crd.length}});
  }
  view.values = {stored.values.data(), stored.pattern->value_count()};
  return view;
}

expr::StoredTensor stored_result(const TensorSpec& spec, const std::vector<int64_t>& sizes,
                                 const std::vector<ArraySpan>& pos,
                                 const std::vector<ArraySpan>& crd, const ArraySpan& values) {
  std::vector<LevelStorage> levels;
  for (size_t l = 0; l < pos.size(); ++l) {
    levels.push_back(
        {{pos[l].data, pos[l].length, nullptr}, {crd[l].data, crd[l].length, nullptr}});
  }
  expr::StoredTensor stored;
  try {
    stored.pattern = std::make_shared<Pattern>(Format::parse(spec.format, spec.rank), sizes,
                                               spec.index_type, levels);
    validate(*stored.pattern, spec.name);
  } catch (const UserError& error) {
    internal_error("the result is malformed: ", error.what());
  }
  TULLE_CHECK(values.length == stored.pattern->value_count(), "values of ", spec.name, ": ",
              values.length, " for ", stored.pattern->value_count(), " slots");
  stored.type = spec.type;
  const auto* bytes = static_cast<const std::byte*>(values.data);
  stored.values.assign(bytes, bytes + values.length * size_of(spec.type));
  return stored;
}

// Where two spelled-out tensors differ; patterns are compared unless the format pads or is dense.
std::string difference(const ReferenceTensor& wanted, const ReferenceTensor& got, bool patterns) {
  if (wanted.sizes != got.sizes) return "sizes differ";
  const double tolerance = wanted.type == DType::Float32 ? 1e-4 : 1e-9;
  for (size_t at = 0; at < static_cast<size_t>(wanted.count()); ++at) {
    std::string place = concat(" at ", at);
    if (is_float(wanted.type)) {
      const double a = wanted.floats[at], b = got.floats[at];
      if (!(std::abs(a - b) <= tolerance * (1 + std::abs(a))) &&
          !(std::isnan(a) && std::isnan(b)) && a != b) {
        return concat("expected ", a, ", got ", b, place);
      }
    } else if (wanted.integers[at] != got.integers[at]) {
      return concat("expected ", wanted.integers[at], ", got ", got.integers[at], place);
    }
    if (patterns && wanted.stored[at] != got.stored[at]) {
      return concat(wanted.stored[at] ? "an entry is missing" : "an entry too many", place);
    }
  }
  return {};
}

bool pattern_counts(const Format& format) { return !format.is_dense() && !format.has_blocks(); }

std::string check_compiled(const Case& test, const std::vector<expr::StoredTensor>& operands,
                           const std::vector<TensorSpec>& specs,
                           const std::map<std::string, ReferenceTensor>& wanted) {
  ProgramOptions options{test.out_formats, test.schedule, test.features, false};
  const auto program = Program::compile(test.text, specs, options);
  std::vector<TensorView> views;
  for (const expr::StoredTensor& operand : operands) views.push_back(view_of(operand));
  VectorMemory memory;
  RunOptions run;
  run.threads = test.threads;
  const std::vector<ResultTensor> results = program->run(views, memory, run);
  for (size_t r = 0; r < results.size(); ++r) {
    const TensorSpec& spec = program->results()[r];
    std::vector<ArraySpan> pos, crd;
    for (size_t l = 0; l < results[r].pos.size(); ++l) {
      pos.push_back({results[r].pos[l].data, results[r].pos[l].length});
      crd.push_back({results[r].crd[l].data, results[r].crd[l].length});
    }
    const auto stored = stored_result(spec, results[r].sizes, pos, crd,
                                      {results[r].values.data, results[r].values.length});
    const Format format = Format::parse(spec.format, spec.rank);
    const std::string found =
        difference(wanted.at(spec.name), expr::spell_out(stored), pattern_counts(format));
    if (!found.empty()) return concat("compiled ", spec.name, " (", spec.format, "): ", found);
  }
  return {};
}

std::string check_interpreted(const Case& test, const std::vector<expr::StoredTensor>& operands,
                              const std::vector<TensorSpec>& specs,
                              const plan::UniqueProgram& unique,
                              const std::map<std::string, ReferenceTensor>& wanted) {
  CompileRequest request;
  request.program = &unique;
  request.machine = describe_machine(test.features, test.threads);
  request.schedule = test.schedule;
  loop::Scalars scalars;
  loop::Arrays arrays;
  scalars[lower::kThreads] = test.threads;
  for (size_t o = 0; o < specs.size(); ++o) {
    request.operands.push_back(specs[o].name);
    const Pattern& pattern = *operands[o].pattern;
    request.statistics[specs[o].name] = {pattern.sizes(), pattern.value_count()};
    scalars[lower::count_name(specs[o].name)] = pattern.value_count();
    auto add = [&](const loop::Buffer& buffer, const void* data, int64_t length) {
      const auto* bytes = static_cast<const std::byte*>(data);
      arrays[buffer->name] = {buffer->element, {bytes, bytes + length * size_of(buffer->element)}};
    };
    const lower::TensorBuffers buffers =
        lower::buffers_of(specs[o].name, unique.program.tensors.at(specs[o].name));
    for (size_t l = 0; l < buffers.pos.size(); ++l) {
      const LevelStorage& level = pattern.levels()[l];
      if (buffers.pos[l]) add(buffers.pos[l], level.pos.data, level.pos.length);
      if (buffers.crd[l]) add(buffers.crd[l], level.crd.data, level.crd.length);
    }
    add(buffers.values, operands[o].values.data(), pattern.value_count());
  }
  for (const auto& [index, uses] : unique.extents) {
    for (size_t o = 0; o < specs.size(); ++o) {
      if (specs[o].name != uses.front().tensor) continue;
      const int64_t extent =
          operands[o].pattern->sizes()[static_cast<size_t>(uses.front().dimension)];
      scalars[lower::extent_name(index)] = extent;
      for (const std::string& special : plan::specialisable_indices(unique.program)) {
        if (special == index) request.known_extents[index] = extent;
      }
    }
  }
  const LoweredProgram lowered = lower_program(request);
  auto compare = [&](const loop::HostProgram& program, const char* stage) -> std::string {
    const loop::Arrays outcome = loop::interpret(program, arrays, scalars);
    for (const ResultLayout& layout : lowered.results) {
      const expr::TensorType& type = unique.program.tensors.at(layout.tensor);
      const TensorSpec spec{layout.tensor,   type.format.name(), type.type,
                            type.index_type, type.format.rank(), {}};
      auto span = [&](int at) -> ArraySpan {
        if (at < 0) return {};
        const loop::Array& array = outcome.at(program.results[static_cast<size_t>(at)]->name);
        return {array.bytes.data(), array.size()};
      };
      std::vector<ArraySpan> pos, crd;
      for (size_t l = 0; l < layout.pos.size(); ++l) {
        pos.push_back(span(layout.pos[l]));
        crd.push_back(span(layout.crd[l]));
        if (layout.shared_operand.empty()) continue;
        for (size_t o = 0; o < specs.size(); ++o) {
          if (specs[o].name != layout.shared_operand) continue;
          const LevelStorage& level = operands[o].pattern->levels()[l];
          pos.back() = {level.pos.data, level.pos.length};
          crd.back() = {level.crd.data, level.crd.length};
        }
      }
      const auto stored =
          stored_result(spec, wanted.at(layout.tensor).sizes, pos, crd, span(layout.values));
      const std::string found = difference(wanted.at(layout.tensor), expr::spell_out(stored),
                                           pattern_counts(type.format));
      if (!found.empty())
        return concat("interpreted after ", stage, ", ", layout.tensor, ": ", found);
    }
    return {};
  };
  std::string found = compare(lowered.program, "lower");
  if (!found.empty()) return found;
  return compare(optimise_program(lowered.program, request), "passes");
}

}  // namespace

std::string run_case(const Case& test, int engines, std::string* refused) {
  lower::work_per_chunk() = test.small_chunks ? 1 : lower::kWorkPerChunk;
  try {
    std::map<std::string, expr::TensorType> types;
    std::map<std::string, ReferenceTensor> spelled;
    std::vector<expr::StoredTensor> operands;
    std::vector<TensorSpec> specs;
    unsigned seed = test.seed;
    for (const Operand& operand : test.operands) {
      const int rank = static_cast<int>(operand.sizes.size());
      const Format format = Format::parse(operand.format, rank);
      operands.push_back(draw_stored(operand, ++seed));
      spelled[operand.name] = expr::spell_out(operands.back());
      specs.push_back({operand.name, operand.format, operand.type, operand.index_type, rank, {}});
      types[operand.name] = {operand.type, operand.index_type, format};
    }
    const expr::Program parsed = expr::parse_program(test.text);
    expr::ResolveOptions resolving;
    for (const auto& [name, format] : test.out_formats) {
      for (const expr::Statement& statement : parsed.statements) {
        if (statement.tensor == name) {
          resolving.out_formats.emplace(
              name, Format::parse(format, static_cast<int>(statement.indices.size())));
        }
      }
    }
    const expr::ResolvedProgram resolved = expr::resolve(parsed, types, resolving);
    const auto wanted = expr::evaluate(resolved, spelled);
    std::string found;
    if (engines & kInterpreted) {
      found = check_interpreted(test, operands, specs, plan::with_unique_indices(resolved), wanted);
    }
    if (found.empty() && engines & kCompiled) found = check_compiled(test, operands, specs, wanted);
    return found;
  } catch (const InternalError& error) {
    return concat("InternalError: ", error.what());
  } catch (const Error& error) {
    if (!refused) return concat("refused: ", error.what());
    *refused = error.what();
    return {};
  }
}

}  // namespace tulle::differential
