// The public Program: resolves statements once, and compiles kernels for the sizes of calls.
#include <algorithm>
#include <optional>
#include <set>
#include <unistd.h>

#include "api/limited_program.h"
#include "api/out_formats.h"
#include "api/parsed_source.h"
#include "composite/composite.h"
#include "composite/operand_parts.h"
#include "driver/check_lengths.h"
#include "driver/plan_summary.h"
#include "driver/program_key.h"
#include "driver/run_executable.h"
#include "driver/schedule_candidates.h"
#include "driver/tuned_schedules.h"
#include "driver/variant_table.h"
#include "expr/extents.h"
#include "expr/padding.h"
#include "expr/pattern_owner.h"
#include "expr/walk.h"
#include "runtime/heap.h"
#include "support/check.h"
#include "support/joined.h"
#include "tulle/tulle.h"

namespace tulle {

namespace {

class ResolvedExpression final : public Program {
 public:
  ResolvedExpression(const expr::ParsedProgram& parsed, const std::vector<TensorSpec>& operands,
                     const ProgramOptions& options, const CompileLimits& limits,
                     const jit::ContentHash& source)
      : operands_(operands), parts_(operands), options_(options) {
    expr::ResolveOptions resolving;
    resolving.out_formats = chosen_formats(parsed, options);
    program_ = plan::with_unique_indices(expr::resolve(parsed, parts_.types(), resolving));
    check_operands_are_read();
    find_alike();
    find_pattern_owners();
    program_ = plan::decompose(program_, parts_.composites());
    statement_schedules(program_, options.schedule);
    collect_indices();
    variants_.emplace(program_, parts_.specs(), indices_, options_, limits, source);
    describe_results();
  }

  const std::vector<TensorSpec>& operands() const override { return operands_; }
  const std::vector<TensorSpec>& results() const override { return results_; }
  // Whether the program merges the parts of that operand before it uses them.
  bool merges(const std::string& operand) const { return program_.merged.contains(operand); }
  int64_t code_bytes() const override { return variants_->code_bytes(); }

  void run_into(const std::vector<TensorView>& given, Memory& memory, const RunOptions& options,
                std::vector<ResultTensor>& results) const override {
    // Reused from call to call. While they are in use, no other run starts in this thread.
    struct CallBuffers {
      std::vector<int64_t> extents, scalars;
      std::vector<void*> buffers, handles;
      std::vector<runtime::Result> found;
      std::vector<TensorView> parts;
    };
    thread_local CallBuffers kept;
    auto& [extents, scalars, buffers, handles, found, parts] = kept;
    const std::vector<TensorView>& views = parts_.views(given, parts);
    read_extents(views, extents);
    check_positions_fit(views);
    const Variant& variant = variants_->find(views, extents, options);
    const Executable& executable = variant.executable;

    const int threads = executable.gpu_program ? executable.gpu_threads : options.threads;
    variant.read_arguments(views, extents, threads, buffers, scalars);
    handles.assign(executable.result_count(), nullptr);
    found.assign(executable.result_count(), {});
    ResultMemory result_memory(memory, executable.results, handles, parts_.specs(), views,
                               options.device);
    run_executable(executable, buffers, scalars, result_memory, options, found);
    collect(variant, views, found, handles, results);
  }

  std::string explain(const std::vector<TensorView>& given,
                      const RunOptions& options) const override {
    std::vector<int64_t> extents;
    std::vector<TensorView> parts;
    const std::vector<TensorView>& views = parts_.views(given, parts);
    read_extents(views, extents);
    const std::string statements = explain_statements() + parts_.text_of(given);
    CompileRequest request = variants_->request(views, extents, options);
    std::string text;
    const StageSink sink = [&](std::string_view stage, const std::string& stage_text) {
      text += concat("\n== ", stage, " ==\n", stage_text);
    };
    if (!request.tuned.empty()) sink("tuning", describe_tuned_plan(request));
    try {
      tulle::compile(request, sink);
    } catch (const UserError&) {
      if (request.tuned.empty()) throw;
      request.tuned.clear();
      text.clear();
      tulle::compile(request, sink);
    }
    return concat("== summary ==\n", plan_summary(request), "\n", statements, text);
  }

  std::string explain_statements() const {
    std::string text =
        concat("== expr ==\n", expr::to_string(expr::ParsedProgram{program_.program.statements}));
    for (const auto& [name, type] : program_.program.tensors) {
      text += concat("  ", name, ": ", name_of(type.type), ", ", type.format.name(), "\n");
    }
    for (const std::string& name : seen_with_padding()) {
      text += concat("  # ", name, " stores padding as entries of 0, which reductions over its ",
                     "entries see; store it as coo or csr if they should not\n");
    }
    return text;
  }

  std::vector<ScheduleCandidate> candidates(const std::vector<TensorView>& given,
                                            const RunOptions& options) const override {
    std::vector<int64_t> extents;
    std::vector<TensorView> parts;
    const std::vector<TensorView>& views = parts_.views(given, parts);
    read_extents(views, extents);
    CompileRequest request = variants_->request(views, extents, options);
    request.tuned.clear();
    return schedule_candidates(request);
  }

  void keep_schedule(const std::vector<TensorView>& given, const RunOptions& options,
                     const MeasuredSchedule& measured) const override {
    std::vector<int64_t> extents;
    std::vector<TensorView> parts;
    const std::vector<TensorView>& views = parts_.views(given, parts);
    read_extents(views, extents);
    keep_tuned_schedule(variants_->request(views, extents, options), measured);
  }

 private:
  // Whether a sparse tensor stores padding, or is computed from one that does.
  bool stores_padding(const std::string& tensor) const {
    const Format& format = program_.program.tensors.at(tensor).format;
    if (format.is_dense()) return false;
    if (expr::stores_padding(format)) return true;
    for (const expr::Statement& statement : program_.program.statements) {
      if (statement.tensor != tensor) continue;
      const auto all = expr::accesses(statement.value);
      if (std::any_of(all.begin(), all.end(),
                      [&](const expr::Access* access) { return stores_padding(access->tensor); }))
        return true;
    }
    return false;
  }

  // The tensors with padding whose entries a reduction runs over.
  std::set<std::string> seen_with_padding() const {
    std::set<std::string> found;
    const auto look = [&](const expr::Expr& part) {
      const auto* reduce = part.as<expr::Reduce>();
      const auto* softmax = part.as<expr::Softmax>();
      if (!softmax && !(reduce && reduce->stored)) return false;
      for (const expr::Access* access : expr::accesses(softmax ? softmax->body : reduce->body)) {
        if (stores_padding(access->tensor)) found.insert(access->tensor);
      }
      return false;
    };
    for (const expr::Statement& statement : program_.program.statements)
      expr::any_part(statement.value, look);
    return found;
  }

  void check_operands_are_read() const {
    const auto& read = program_.program.operands;  // before composites are decomposed
    for (const TensorSpec& spec : operands_) {
      if (std::find(read.begin(), read.end(), spec.name) != read.end()) continue;
      user_error("'", spec.name, "' is given, but no statement reads it; ",
                 read.empty() ? "none reads any operand" : concat("they read ", joined(read)),
                 ". Remove it, or use it.");
    }
  }

  void find_alike() {
    for (size_t o = 0; o < parts_.specs().size(); ++o) {
      const TensorSpec& spec = parts_.specs()[o];
      if (spec.like.empty()) continue;
      const int other = operand_number(spec.like);
      const TensorSpec& owner = parts_.specs()[static_cast<size_t>(other)];
      if (!owner.like.empty() ||
          parts_.formats()[o] != parts_.formats()[static_cast<size_t>(other)] ||
          owner.index_type != spec.index_type) {
        user_error(spec.name, ": the structure of ", spec.like,
                   " has another format or index type");
      }
      alike_.emplace_back(static_cast<int>(o), other);
    }
  }

  // The parts of a composite operand are found after this.
  void find_pattern_owners() {
    for (const std::string& result : program_.program.results) {
      const std::string owner = expr::pattern_owner(program_.program, result);
      if (!parts_.composites().contains(owner)) pattern_owners_[result] = owner;
    }
  }

  void collect_indices() {
    for (const auto& [index, uses] : program_.extents) {
      indices_.push_back(index);
      std::vector<OperandDimension> dimensions;
      for (const expr::ExtentUse& use : uses) {
        dimensions.push_back({operand_number(use.tensor), use.dimension});
      }
      sources_.push_back(std::move(dimensions));
    }
  }

  // The number of an operand among the parts.
  int operand_number(const std::string& name) const {
    for (size_t o = 0; o < parts_.specs().size(); ++o) {
      if (parts_.specs()[o].name == name) return static_cast<int>(o);
    }
    internal_error("operand ", name);
  }

  void describe_results() {
    for (const std::string& name : program_.program.results) {
      const expr::TensorType& type = program_.program.tensors.at(name);
      TensorSpec spec{name, type.format.name(), type.type, type.index_type, type.format.rank(), {}};
      spec.like = pattern_owners_[name];
      std::vector<OperandDimension>& inner = sizes_from_[name];
      for (const expr::Statement& statement : program_.program.statements) {
        if (statement.tensor != name) continue;
        for (const std::string& index : statement.indices) {
          const auto found = std::find(indices_.begin(), indices_.end(), index);
          TULLE_CHECK(found != indices_.end(), "the extent of ", index);
          OperandDimension source = sources_[static_cast<size_t>(found - indices_.begin())].front();
          inner.push_back(source);
          source.operand = parts_.owner(source.operand);
          spec.sizes_from.push_back(source);
        }
      }
      results_.push_back(std::move(spec));
      result_formats_.push_back(type.format);
    }
  }

  void read_extents(const std::vector<TensorView>& views, std::vector<int64_t>& extents) const {
    for (size_t o = 0; o < views.size(); ++o) {
      check_lengths(parts_.specs()[o], parts_.formats()[o], views[o]);
    }
    check_structures(views);
    check_ones(views);
    extents.clear();
    for (size_t i = 0; i < indices_.size(); ++i) {
      const OperandDimension& first = sources_[i].front();
      const int64_t extent = size_of(views, first);
      for (const OperandDimension& other : sources_[i]) {
        if (size_of(views, other) != extent) fail_extents(views);
      }
      extents.push_back(extent);
    }
  }

  // Checks that operands with a common structure have the same arrays.
  void check_structures(const std::vector<TensorView>& views) const {
    for (const auto& [operand, other] : alike_) {
      const TensorView &one = views[static_cast<size_t>(operand)],
                       &two = views[static_cast<size_t>(other)];
      const auto is_same = [](const LevelSpan& a, const LevelSpan& b) {
        return a.pos.data == b.pos.data && a.crd.data == b.crd.data;
      };
      if (one.sizes == two.sizes && std::equal(one.levels.begin(), one.levels.end(),
                                               two.levels.begin(), two.levels.end(), is_same)) {
        continue;
      }
      user_error(parts_.specs()[static_cast<size_t>(operand)].name,
                 ": expected the structure arrays of ",
                 parts_.specs()[static_cast<size_t>(other)].name);
    }
  }

  void check_ones(const std::vector<TensorView>& views) const {
    for (const OperandDimension& one : options_.ones) {
      for (int part = 0; part < static_cast<int>(views.size()); ++part) {
        const int64_t size =
            parts_.owner(part) == one.operand ? size_of(views, {part, one.dimension}) : int64_t{1};
        if (size == 1) continue;
        user_error("operand ", one.operand + 1, " has size ", size, " along dimension ",
                   one.dimension, ", but the program was compiled for size 1");
      }
    }
  }

  // Throws the error that points at the uses of an index with two extents.
  [[noreturn]] void fail_extents(const std::vector<TensorView>& views) const {
    expr::Sizes sizes;
    for (size_t o = 0; o < views.size(); ++o) sizes[parts_.specs()[o].name] = views[o].sizes;
    expr::index_extents(program_.program, sizes);
    internal_error("extents that differ");
  }

  // Checks the memory for positions: a sparse result has one for every coordinate of its leading
  // dense levels.
  void check_positions_fit(const std::vector<TensorView>& views) const {
    static const int64_t memory = sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
    for (size_t r = 0; r < results_.size(); ++r) {
      if (result_formats_[r].is_dense()) continue;
      int64_t bytes = tulle::size_of(results_[r].index_type);
      for (const Level& level : result_formats_[r].levels()) {
        if (!is_full(level.kind)) break;
        const int64_t extent = level.expr.extent(sizes_of(views, results_[r]));
        if (__builtin_mul_overflow(bytes, extent, &bytes) || bytes > memory) {
          user_error(
              "the result ", results_[r].name, " in format ", results_[r].format,
              " would need more memory for the positions of its dense levels than this machine has;"
              " choose a format without dense levels, such as dcsr, csf or coo");
        }
      }
    }
  }

  std::vector<int64_t> sizes_of(const std::vector<TensorView>& views,
                                const TensorSpec& result) const {
    std::vector<int64_t> sizes;
    for (const OperandDimension& source : sizes_from_.at(result.name)) {
      sizes.push_back(size_of(views, source));
    }
    return sizes;
  }

  static int64_t size_of(const std::vector<TensorView>& views, const OperandDimension& dimension) {
    return views[static_cast<size_t>(dimension.operand)]
        .sizes[static_cast<size_t>(dimension.dimension)];
  }

  void collect(const Variant& variant, const std::vector<TensorView>& views,
               const std::vector<runtime::Result>& found, const std::vector<void*>& handles,
               std::vector<ResultTensor>& results) const {
    results.resize(results_.size());
    for (size_t r = 0; r < results.size(); ++r) {
      const ResultLayout& layout = variant.executable.results[r];
      const TensorSpec& spec = results_[r];
      ResultTensor& result = results[r];
      result.sizes.clear();
      for (const OperandDimension& source : sizes_from_.at(spec.name)) {
        result.sizes.push_back(size_of(views, source));
      }
      auto array = [&](int at, DType type) {
        if (at < 0) return ResultArray{};
        const auto number = static_cast<size_t>(at);
        return ResultArray{found[number].data, found[number].elements, type, handles[number], -1};
      };
      result.values = array(layout.values, spec.type);
      result.pos.clear();
      result.crd.clear();
      const int shared = layout.shared_operand.empty() ? -1 : operand_number(layout.shared_operand);
      for (size_t l = 0; l < layout.pos.size(); ++l) {
        result.pos.push_back(array(layout.pos[l], spec.index_type));
        const DType crd_type =
            coordinate_type(result_formats_[r].levels()[l].kind, spec.index_type);
        result.crd.push_back(array(layout.crd[l], crd_type));
        // The result may have dense levels below those of the operand.
        if (shared < 0 || l >= views[static_cast<size_t>(shared)].levels.size()) continue;
        const LevelSpan& level = views[static_cast<size_t>(shared)].levels[l];
        result.pos[l] = borrowed(level.pos, spec.index_type, parts_.owner(shared));
        result.crd[l] = borrowed(level.crd, crd_type, parts_.owner(shared));
      }
    }
  }

  // A structure array of an operand, as an array of a result.
  static ResultArray borrowed(const ArraySpan& span, DType type, int operand) {
    if (span.length == 0 && !span.data) return {};
    void* const data = const_cast<void*>(span.data);  // callers only read it
    return {data, span.length, type, nullptr, operand};
  }

  std::vector<TensorSpec> operands_, results_;
  OperandParts parts_;
  std::map<std::string, std::string> pattern_owners_;  // of results; empty: none
  std::vector<std::pair<int, int>> alike_;  // operands with the structure arrays of another one
  std::vector<Format> result_formats_;
  std::map<std::string, std::vector<OperandDimension>> sizes_from_;  // of results, among the parts
  ProgramOptions options_;
  plan::UniqueProgram program_;
  std::vector<std::string> indices_;                    // of the whole program
  std::vector<std::vector<OperandDimension>> sources_;  // the sources of the extent of each index
  std::optional<VariantTable> variants_;                // refers to the members above
};

// Makes the program. Decomposes the operands that the schedule decomposes.
std::shared_ptr<const Program> make_program(const expr::ParsedProgram& parsed,
                                            const std::vector<TensorSpec>& operands,
                                            const ProgramOptions& options,
                                            const CompileLimits& limits,
                                            const jit::ContentHash& source) {
  const schedule::Decompositions taken = schedule::take_decompositions(options.schedule);
  require_sparse(operands, taken.steps);
  ProgramOptions inside = options;
  inside.schedule = taken.rest;
  auto program = std::make_shared<ResolvedExpression>(
      parsed, decomposed_specs(operands, taken.steps), inside, limits, source);
  for (const schedule::Decomposition& step : taken.steps) {
    if (!program->merges(step.operand)) continue;
    fail_at(step.place,
            concat("a statement that reads '", step.operand,
                   "' has a sparse result, cannot be computed part by part and combined by a sum, "
                   "product, maximum or minimum, or distinguishes the padding of block or diagonal "
                   "parts from missing entries (as a quotient does); remove the step, or write the "
                   "reduction as a separate statement"));
  }
  return decomposing_program(operands, taken.steps, std::move(program));
}

}  // namespace

std::shared_ptr<const Program> Program::from_notation(std::string_view text,
                                                      const std::vector<TensorSpec>& operands,
                                                      const ProgramOptions& options) {
  return limited_program(text, operands, options, {});
}

std::shared_ptr<const Program> limited_program(std::string_view text,
                                               const std::vector<TensorSpec>& operands,
                                               const ProgramOptions& options,
                                               const CompileLimits& limits) {
  return make_program(expr::parse_program(text), operands, options, limits,
                      source_of("notation", text, operands, options));
}

std::shared_ptr<const Program> Program::from_einsum(std::string_view equation,
                                                    const std::vector<TensorSpec>& operands,
                                                    const ProgramOptions& options) {
  return make_program(parsed_einsum(equation, operands, options), operands, options, {},
                      source_of("einsum", equation, operands, options));
}

void* allocate_kept(int64_t bytes) noexcept { return runtime::heap_allocate(bytes); }
void release_kept(void* memory, int64_t bytes) noexcept { runtime::heap_release(memory, bytes); }

}  // namespace tulle
