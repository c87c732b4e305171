// Differential testing of whole programs.
#include "differential/differential.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <deque>

#include "api/limited_program.h"
#include "differential/places.h"
#include "differential/prepared.h"
#include "driver/compile.h"
#include "loop/interpret.h"
#include "loop/print.h"
#include "support/check.h"
#include "support/mutant.h"
#include "tulle/tulle.h"

namespace tulle::differential {

using expr::ReferenceTensor;

namespace {

// Runs before any compilation. A test must not find code on disk from another test.
[[maybe_unused]] const int kWithoutDisk = setenv("TULLE_CACHE", "0", 0);

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

// The difference between two dense copies. Compares the patterns too, unless the format pads or is
// dense.
std::string difference(const ReferenceTensor& wanted, const ReferenceTensor& got, bool exact,
                       bool patterns) {
  if (wanted.sizes != got.sizes) return "sizes differ";
  // A half is rounded once, but possibly to the other side of a tie.
  const double tolerance = wanted.type == DType::BFloat16  ? 0x1p-7
                           : wanted.type == DType::Float16 ? 0x1p-10
                           : exact                         ? 1e-9
                                                           : 1e-4;
  for (size_t at = 0; at < static_cast<size_t>(wanted.count()); ++at) {
    std::string place = concat(" at ", at);
    if (is_float(wanted.type)) {
      const double a = wanted.floats[at], b = got.floats[at];
      const bool near = std::isfinite(a) && std::abs(a - b) <= tolerance * (1 + std::abs(a));
      if (!near && !(std::isnan(a) && std::isnan(b)) && a != b) {
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

// Whether the case computes everything in double precision, like the reference.
bool in_double(const Case& test) {
  return std::all_of(test.operands.begin(), test.operands.end(),
                     [](const Operand& operand) { return operand.type == DType::Float64; });
}

// Whether to compare a result's entries one by one. Not if the format stores all coordinates or
// pads. Not if a sum may be empty either: a result that shares an operand's pattern then stores
// zeros that an appended result omits.
bool pattern_counts(const Case& test, const Format& format) {
  const bool sums_nothing =
      std::any_of(test.operands.begin(), test.operands.end(), [](const Operand& operand) {
        return std::find(operand.sizes.begin(), operand.sizes.end(), 0) != operand.sizes.end();
      });
  return !format.is_dense() && !format.has_blocks() && !sums_nothing;
}

// Keeps the last programs of this thread loaded, so that later programs reuse kernels that they
// share with them.
void keep_loaded(const std::shared_ptr<const Program>& program) {
  constexpr size_t kMost = 500;
  thread_local std::deque<std::shared_ptr<const Program>> recent;
  recent.push_back(program);
  if (recent.size() > kMost) recent.pop_front();
}

// Runs the passes. Remembers the last programs of this thread, because other data often gives the
// same program.
loop::HostProgram after_passes(const loop::HostProgram& program, const CompileRequest& request) {
  struct Known {
    std::string text;
    loop::HostProgram program;
  };
  constexpr size_t kMost = 8;
  thread_local std::deque<Known> recent;
  const std::string text =
      concat(active_mutant(), " ", request.target.triple, " ", request.target.light, " ",
             request.plan.machine.vector_bytes, "\n", loop::to_string(program));
  for (const Known& known : recent) {
    if (known.text == text) return known.program;
  }
  recent.push_back({text, optimise_program(program, code_request(request))});
  if (recent.size() > kMost) recent.pop_front();
  return recent.back().program;
}

std::string difference_of(const std::vector<ResultTensor>& results, const Program& program,
                          const Case& test, Place& place,
                          const std::map<std::string, ReferenceTensor>& wanted) {
  for (size_t r = 0; r < results.size(); ++r) {
    const TensorSpec& spec = program.results()[r];
    std::vector<ArraySpan> pos, crd;
    for (size_t l = 0; l < results[r].pos.size(); ++l) {
      pos.push_back(place.fetch(results[r].pos[l]));
      crd.push_back(place.fetch(results[r].crd[l]));
    }
    const auto stored =
        stored_result(spec, results[r].sizes, pos, crd, place.fetch(results[r].values));
    const Format format = Format::parse(spec.format, spec.rank);
    const std::string found = difference(wanted.at(spec.name), expr::spell_out(stored),
                                         in_double(test), pattern_counts(test, format));
    if (!found.empty()) return concat("compiled ", spec.name, " (", spec.format, "): ", found);
  }
  return {};
}

std::shared_ptr<const Program> compiled(const Case& test, const Prepared& ready) {
  ProgramOptions options{test.out_formats, test.schedule, test.features, false};
  const auto program = limited_program(test.text, ready.given, options, ready.request.limits);
  keep_loaded(program);
  return program;
}

// Copies the operands to the place.
std::vector<TensorView> views_at(Place& place, const Case& test, const Prepared& ready) {
  std::vector<TensorView> views(ready.given.size());
  for (size_t o = 0; o < views.size(); ++o) {
    for (const expr::StoredTensor& stored : ready.stored[o]) {
      TensorSpec spec = ready.given[o];
      spec.format = stored.pattern->format().name();
      const TensorView view = place.bring(spec, view_of(stored));
      if (!is_composite(test.operands[o])) {
        views[o] = view;
        continue;
      }
      views[o].sizes = view.sizes;
      views[o].parts.push_back(view);
    }
  }
  return views;
}

RunOptions run_options(const Case& test, const Place& place) {
  RunOptions run;
  run.threads = test.threads;
  run.device = place.device();
  run.deterministic = test.deterministic;
  return run;
}

std::string check_compiled(const Case& test, Place& place, const Prepared& ready,
                           const std::map<std::string, ReferenceTensor>& wanted,
                           bool again = false) {
  const auto program = compiled(test, ready);
  const std::vector<TensorView> views = views_at(place, test, ready);
  const RunOptions run = run_options(test, place);
  std::vector<ResultTensor> results = program->run(views, place.memory(), run);
  std::string found = difference_of(results, *program, test, place, wanted);
  if (!found.empty() || !again) return found;
  finish_compiling();
  results = program->run(views, place.memory(), run);
  found = difference_of(results, *program, test, place, wanted);
  return found.empty() ? "" : concat("in good code: ", found);
}

std::string check_interpreted(const Case& test, const Prepared& ready,
                              const std::map<std::string, ReferenceTensor>& wanted) {
  const LoweredProgram lowered = lower_program(ready.request);
  auto compare = [&](const loop::HostProgram& program, const char* stage) -> std::string {
    const loop::Arrays outcome = loop::interpret(program, ready.arrays, ready.scalars);
    for (const ResultLayout& layout : lowered.results) {
      const expr::TensorType& type = ready.program.program.tensors.at(layout.tensor);
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
        for (size_t o = 0; o < ready.specs.size(); ++o) {
          if (ready.specs[o].name != layout.shared_operand) continue;
          const auto& levels = ready.operands[o].pattern->levels();
          if (l >= levels.size()) continue;  // a dense level below those of the operand
          const LevelStorage& level = levels[l];
          pos.back() = {level.pos.data, level.pos.length};
          crd.back() = {level.crd.data, level.crd.length};
        }
      }
      const auto stored =
          stored_result(spec, wanted.at(layout.tensor).sizes, pos, crd, span(layout.values));
      const std::string found = difference(wanted.at(layout.tensor), expr::spell_out(stored),
                                           in_double(test), pattern_counts(test, type.format));
      if (!found.empty())
        return concat("interpreted after ", stage, ", ", layout.tensor, ": ", found);
    }
    return {};
  };
  std::string found = compare(lowered.program, "lower");
  if (!found.empty()) return found;
  return compare(after_passes(lowered.program, ready.request), "passes");
}

}  // namespace

std::string explain_case(const Case& test) {
  const Prepared ready(test);
  std::string text;
  const StageSink sink = [&](std::string_view stage, const std::string& stage_text) {
    text += concat("== ", stage, " ==\n", stage_text, "\n");
  };
  try {
    optimise_program(lower_program(ready.request, sink).program, code_request(ready.request), sink);
  } catch (const Error& error) {
    text += error.what();
  }
  return text;
}

std::string explain_on_gpu(const Case& test) {
  const Prepared ready(test);
  const auto place = first_gpu();
  const std::vector<TensorView> views = views_at(*place, test, ready);
  return compiled(test, ready)->explain(views, run_options(test, *place));
}

std::string run_case(const Case& test, int engines, std::string* refused) {
  bool is_legal = false;
  try {
    const Prepared ready(test);
    const auto wanted = expr::evaluate(ready.resolved, ready.spelled);
    is_legal = true;
    std::string found;
    if (engines & kInterpreted) found = check_interpreted(test, ready, wanted);
    if (found.empty() && engines & kCompiled && !test.gpu)
      found = check_compiled(test, *host_memory(), ready, wanted);
    if (found.empty() && engines & kOnGpu)
      found = check_compiled(test, *first_gpu(), ready, wanted, engines & kInGoodCode);
    return found;
  } catch (const InternalError& error) {
    return concat("InternalError: ", error.what());
  } catch (const UserError& error) {
    // If the language accepts the case, only its schedule may be refused.
    if (!refused || (is_legal && test.schedule.empty())) return concat("refused: ", error.what());
    *refused = error.what();
    return {};
  } catch (const Error& error) {
    if (!refused) return concat("refused: ", error.what());
    *refused = error.what();
    return {};
  }
}

}  // namespace tulle::differential
